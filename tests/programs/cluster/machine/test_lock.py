from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.machine.lock import locked
from tests.cluster.machine.paths import REPOSITORY

HOLD = """
import sys, pathlib
from tests.cluster.machine.lock import locked
with locked(pathlib.Path(sys.argv[1]), "it"):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that holds the lock until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_second_process_waits_and_says_for_whom(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as first:
        assert first.stdout
        assert first.stdout.readline() == "held\n"
        with holder(path) as second:
            assert second.stdout
            assert second.stderr
            line = second.stderr.readline()
            assert line.endswith(f"waiting for it, held by process {first.pid}\n")
            first.communicate()
            assert second.stdout.readline() == "held\n"
            second.communicate()


def test_lock_of_a_killed_process_is_free(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with holder(tmp_path / "lock") as first:
        assert first.stdout
        assert first.stdout.readline() == "held\n"
        first.kill()
        first.communicate()
    with locked(tmp_path / "lock", "it"):
        pass
    assert capsys.readouterr().err == ""
