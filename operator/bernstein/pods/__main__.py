"""`python3 -m bernstein.pods ROLE`: configuration from the environment, result to the kubelet."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

from bernstein.api import pod
from bernstein.pods import ending, log, termination
from bernstein.pods.errors import PodError, Terminated

ROLES = ("checkout", "recorder", "pusher", "inspect", "begin", "prepare", "land")
"""Each is a module here with `CONFIG`, a dataclass, and `run(config)`, which returns the result."""
LONG_LIVED = ("recorder", "pusher")
"""They await SIGTERM, and then take the last state."""


def main(arguments: list[str]) -> int:
    """Run one role; returns the exit code."""
    if len(arguments) != 1 or arguments[0] not in ROLES:
        return _failed("InvalidConfig", f"expected one role of {', '.join(ROLES)}")
    role = arguments[0]
    if role in LONG_LIVED:
        ending.hold()
    else:
        signal.signal(signal.SIGTERM, _terminate)  # PID 1 would ignore it
    try:
        result = _run(role)
        termination.write(result)
    except PodError as error:
        return _failed(error.reason, error.message, role)
    except Terminated:
        return _failed("Terminated", "the pod was stopped before the work was done", role)
    except Exception as error:  # noqa: BLE001 - the last resort, so that a reason always gets out
        return _failed("InternalError", f"{type(error).__name__}: {error}", role)
    log.event("finished", role=role)
    return 0


def _run(role: str) -> Any:
    module = importlib.import_module(f"bernstein.pods.{role}")
    try:
        config = pod.load(module.CONFIG, os.environ.get(pod.CONFIG_VARIABLE, ""))
    except ValueError as error:
        raise PodError("InvalidConfig", f"{pod.CONFIG_VARIABLE}: {error}") from error
    return module.run(config)


def _failed(reason: str, message: str, role: str = "") -> int:
    termination.write_failure(reason, message)
    log.event("failed", role=role, reason=reason, message=message)
    return 1


def _terminate(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
