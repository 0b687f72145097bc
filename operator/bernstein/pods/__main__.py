"""`python3 -m bernstein.pods PROGRAM CONFIGURATION`: runs one of the programs."""

from __future__ import annotations

import importlib
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from bernstein.api import encoding, pod
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.reasons import Reason
from bernstein.core.sanitise import quoting
from bernstein.pods import log, sigterm, termination
from bernstein.pods.errors import PodError, Terminated

# httpx loads a command line of its own wherever what that needs is installed, as it is for ours: a
# third of the start of a program that asks a forge. None: it cannot be imported.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

LONG_LIVED = (pod.RECORDER, pod.PUSHER)
"""They run until SIGTERM, and then save the last state of the agent's work."""
PROGRAMS = (*pod.PROGRAMS, pod.MINT)
_WORDS = 500
"""Characters of an error that nobody expected: it may quote what was read."""


def main(arguments: list[str]) -> int:
    """Run one program; returns the exit code."""
    if len(arguments) != 2 or arguments[0] not in PROGRAMS:
        programs = ", ".join(PROGRAMS)
        return _failed("InvalidConfig", f"expected one program of {programs}, and what it is told")
    program, told = arguments
    if program in LONG_LIVED:
        sigterm.block()
    else:
        signal.signal(signal.SIGTERM, _terminate)  # PID 1 would ignore it
    try:
        result = _run(program, told)
        termination.write(result, program)
    except PodError as error:
        return _failed(error.reason, error.message, program, error.asked)
    except Terminated:
        return _failed(Reason.TERMINATED, "the pod was stopped before the work was done", program)
    except Exception as error:  # noqa: BLE001 - the last resort, so that a reason always gets out
        return _failed("InternalError", quoting(type(error).__name__, str(error), _WORDS), program)
    log.event("finished", program=program)
    return 0


def _run(program: str, told: str) -> Any:
    """Call `run` of the program's module with its configuration, of the dataclass `CONFIG`."""
    module = importlib.import_module(f"bernstein.pods.programs.{program}")
    try:
        config = encoding.load(module.CONFIG, told)
    except ValueError as error:
        raise PodError("InvalidConfig", f"configuration: {error}") from error
    return module.run(config)


def _failed(reason: str, message: str, program: str = "", asked: AskedForge | None = None) -> int:
    termination.write_failure(reason, message, program, asked)
    log.event("failed", program=program, reason=reason, message=message)
    return 1


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
