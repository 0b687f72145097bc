"""What the look into containers reads of a folder in which others are at work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.background import wait_for
from tests.e2e.forges.inside import container
from tests.e2e.forges.inside.looks import Looks

STARTS = """
import os, sys
opens = (os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)
os.posix_spawn("/bin/true", ["true"], {}, file_actions=[opens])
"""
"""Its child waits for somebody who writes into the FIFO, and it for its child's program."""


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


def test_who_waits_for_a_stopped_child_s_program_is_looked_into(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen([sys.executable, "-c", STARTS, str(fifo)]) as process:
        wait_for(lambda: container.state_of(process.pid) == "D")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        both = (process.pid, *map(int, children.read_text().split()))
        into = container.Container("pod", "name", both)

        try:
            into.stop()
            assert [container.state_of(each) for each in both] == ["D", "T"]
            assert into.is_stopped()
            into.go_on()
            fifo.write_bytes(b"")
            assert process.wait(60) == 0
        finally:
            into.kill()


def test_two_never_look_at_once_so_none_lets_go_on_what_the_other_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither two of one test, nor those of tests that run side by side."""
    two, inside, at_once = (Looks(), Looks()), Counter[str](), Counter[str]()
    both = threading.Barrier(2, timeout=60)

    def look(into: container.Container, _: object) -> None:
        inside[into.name] += 1
        at_once[into.name] = max(at_once[into.name], inside[into.name])
        both.wait()  # with whoever looks into the other one
        inside[into.name] -= 1

    others: list[threading.Thread] = []
    for looks in two:
        monkeypatch.setattr(looks, "_look", look)
        for name in ("agent", "pusher") * 2:
            given = ([container.Container("pod", name, (1,))],)
            others.append(threading.Thread(target=looks._noting, args=given))
    for each in others:
        each.start()
    for each in others:
        each.join()
    assert at_once == {"agent": 1, "pusher": 1}
    assert [looks.faults for looks in two] == [[], []]
