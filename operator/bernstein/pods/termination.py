"""The termination message, by which a container of ours hands its result to the operator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bernstein.api import pod
from bernstein.core import sanitise

PATH_VARIABLE = "BERNSTEIN_TERMINATION_LOG"
_MESSAGE_LIMITS = (1500, 300)
"""Characters of a failure's message: the second is for texts that do not fit at the first. In JSON
one character may take 12 bytes."""


def write(result: Any) -> None:
    """Leave `result`, one of the dataclasses of `bernstein.api.pod`.

    Raises ValueError when it does not fit: the kubelet would cut it, and half of it is no JSON.
    """
    if not fits(result):
        raise ValueError(f"the result takes over {pod.TERMINATION_LIMIT} bytes")
    # Written in place: the kubelet mounts this one file, so a rename would not reach it.
    path = Path(os.environ.get(PATH_VARIABLE, pod.TERMINATION_LOG))
    path.write_text(pod.dump(result))


def write_failure(reason: str, message: str) -> None:
    """Leave why the program failed; the message is sanitised and cut to fit."""
    failures = (pod.Failure(reason, sanitise.text(message, limit)) for limit in _MESSAGE_LIMITS)
    write(next(filter(fits, failures)))


def fits(result: Any) -> bool:
    """Whether the result is short enough to be left whole."""
    return len(pod.dump(result)) <= pod.TERMINATION_LIMIT
