"""An agent that does nothing is stopped."""

from __future__ import annotations

import time

import pytest

from bernstein.api import pod
from bernstein.api.pod import Callback
from bernstein.pods.programs import recorder
from tests.background import wait_for
from tests.programs.pods.agent_pod import write_whole
from tests.programs.pods.callback_server import Call, CallbackServer
from tests.programs.pods.programs.recorder.run import FAST, Run, wait_for_snapshots


def test_an_agent_that_does_nothing_is_stopped(run: Run) -> None:
    began = time.monotonic()
    run.start(stall_seconds=FAST * 5)
    wait_for(run.stop_file.exists)
    assert time.monotonic() - began >= 0.5
    assert run.end().stopped == "Stalled"


class Clock:
    """The recorder's own, which goes on when the test says so."""

    def __init__(self) -> None:
        self.now = time.monotonic()
        self.time = time.time

    def monotonic(self) -> float:
        return self.now


@pytest.mark.parametrize("sign", ["stdout", "stderr", "tree", "too large a tree", "ignored folder"])
def test_any_sign_of_life_is_enough(run: Run, sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(recorder, "time", clock)
    write_whole(run.volumes.worktree, {".gitignore": "build\n"})
    (run.volumes.worktree / "build").mkdir()
    if sign == "too large a tree":
        write_whole(run.volumes.worktree, {"a-big": "x" * 1001})
    run.start(stall_seconds=180, limits=pod.TreeLimits(file_bytes=1000))
    for i in range(5):
        if sign in ("tree", "too large a tree"):
            write_whole(run.volumes.worktree, {"b.py": f"{i}\n"})
        elif sign == "ignored folder":
            write_whole(run.volumes.worktree, {f"build/{i}": ""})
        else:
            with (run.volumes.stream / f"{sign}.log").open("a") as file:
                file.write("x")
        wait_for_snapshots(run, 1)
        clock.now += 100
    wait_for_snapshots(run, 1)
    assert not run.stop_file.exists()
    (run.volumes.worktree / "a-big").unlink(missing_ok=True)
    assert run.end().stopped is None


def test_the_first_reason_to_stop_is_kept(
    run: Run, server: CallbackServer, callback: Callback
) -> None:
    def after_the_stall(_: Call) -> tuple[int, bytes]:
        return (200, b'{"stop":{"reason":"Cancelled"}}' if run.stop_file.exists() else b"{}")

    server.answer = after_the_stall
    run.start(stall_seconds=FAST * 3, callback=callback)
    wait_for(run.stop_file.exists)
    count = len(server.calls)
    wait_for(lambda: len(server.calls) >= count + 2)
    assert run.end().stopped == "Stalled"
