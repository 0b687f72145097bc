"""The termination message: how a container of ours says what came out of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bernstein.api import pod
from bernstein.core import sanitise

PATH_VARIABLE = "BERNSTEIN_TERMINATION_LOG"
_MESSAGE_LIMIT = 1500


def write(result: Any) -> None:
    """Leave `result`, one of `bernstein.api.pod`'s dataclasses.

    Raises ValueError when it does not fit: the kubelet would cut it and nobody could read it.
    """
    data = pod.dump(result).encode()
    if len(data) > pod.TERMINATION_LIMIT:
        raise ValueError(f"the result takes {len(data)} bytes of {pod.TERMINATION_LIMIT}")
    # Not a rename: the kubelet mounts this one file.
    Path(os.environ.get(PATH_VARIABLE, pod.TERMINATION_LOG)).write_bytes(data)


def write_failure(reason: str, message: str) -> None:
    """Leave why the program failed; the message is sanitised and cut."""
    write(pod.Failure(reason, sanitise.text(message, _MESSAGE_LIMIT)))
