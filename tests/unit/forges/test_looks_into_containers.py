"""What the look into containers reads of a folder in which others are at work."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.forges.inside import container


def test_a_folder_that_goes_away_meanwhile_is_empty_and_the_others_are_read(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep" / "file").write_text(name)
    found = container.contents_of(tmp_path)
    seen = [next(found)]
    other = next(name for name in ("a", "b", "c") if name.encode() not in seen)

    shutil.rmtree(tmp_path / other)
    seen += found

    assert sorted(seen) == sorted(each.encode() for each in ("a", "b", "c") if each != other)


@pytest.mark.parametrize("there", [True, False])
def test_a_file_that_a_volume_is_of_is_read_while_it_is_there(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "key").write_text("k")
        (tmp_path / "link").symlink_to("key")
    assert [*container.contents_of(tmp_path / "key")] == ([b"k"] if there else [])
    assert [*container.contents_of(tmp_path)] == ([b"k"] if there else [])


def test_who_has_ended_is_not_looked_into() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        into = container.Container("pod", "name", (process.pid,))
        into.stop()
        assert into.is_stopped()

        into.go_on()
        into.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        into.stop()
        assert not into.is_stopped(), "nobody has asked for its end yet"

    into.stop()
    assert not into.is_stopped()
