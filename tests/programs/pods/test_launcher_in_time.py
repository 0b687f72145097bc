"""The launcher ends a command that is not done in its time, with all that it has started."""

from __future__ import annotations

import signal
import time

from tests.background import wait_for
from tests.programs.pods.test_launcher import Launch, launch, launcher, lives

__all__ = ("launch", "launcher")


def test_a_command_that_is_not_done_in_time_is_ended_with_all_that_it_started(
    launch: Launch,
) -> None:
    launch.options |= {"seconds": "1", "int-seconds": "0", "term-seconds": "0"}
    child = launch.folder / "child"
    started = time.monotonic()

    deaf = f"trap '' INT TERM; (trap '' INT TERM; echo $$ > {child}; sleep 60) & wait; sleep 60"
    code, said = launch.run("sh", "-c", deaf)

    assert (code, said) == (124, b"launcher: not done after 1 s\n")
    assert time.monotonic() - started < 30
    assert launch.record() == {"exitCode": None, "signal": signal.SIGKILL, "stopped": True}
    wait_for(lambda: not lives(int(child.read_text())))


def test_a_command_that_is_done_in_time_ends_as_it_does(launch: Launch) -> None:
    launch.options["seconds"] = "60"

    assert launch.run("sh", "-c", "exit 124") == (124, b"")
    assert launch.run("sh", "-c", "exit 3") == (3, b"")
