"""The termination message: how a container of ours says what came out of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bernstein.api import pod
from bernstein.core import sanitise

PATH_VARIABLE = "BERNSTEIN_TERMINATION_LOG"
_MESSAGE_LIMITS = (1500, 300)
"""Characters; one takes up to 12 bytes, so the longer limit may be too long."""


def write(result: Any) -> None:
    """Leave `result`, one of `bernstein.api.pod`'s dataclasses.

    Raises ValueError when it does not fit: the kubelet would cut it and nobody could read it.
    """
    if not fits(result):
        raise ValueError(f"the result takes over {pod.TERMINATION_LIMIT} bytes")
    # Not a rename: the kubelet mounts this one file.
    path = Path(os.environ.get(PATH_VARIABLE, pod.TERMINATION_LOG))
    path.write_text(pod.dump(result))


def write_failure(reason: str, message: str) -> None:
    """Leave why the program failed; the message is sanitised and cut."""
    failures = (pod.Failure(reason, sanitise.text(message, limit)) for limit in _MESSAGE_LIMITS)
    write(next(filter(fits, failures)))


def fits(result: Any) -> bool:
    """Whether the result can be left as it is."""
    return len(pod.dump(result)) <= pod.TERMINATION_LIMIT
