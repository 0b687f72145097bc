"""The termination message, by which a container of ours hands its result to the operator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bernstein.api import encoding, pod
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.programs.shares import (
    COMPARISON,
    COMPARISON_WITH_SETUP,
    PROBE_SHARE,
    SHARE_VARIABLE,
)
from bernstein.core import sanitise

PATH_VARIABLE = "BERNSTEIN_TERMINATION_LOG"
_MESSAGE_LIMITS = (1500, 300, 100, 40, 5)
"""Characters of a failure's message: the later ones are for texts that do not fit at the first. In
JSON one character may take 12 bytes."""


def limit(program: str) -> int:
    """Bytes that the program's result may take."""
    if program in (pod.PROBE, pod.PROBE_KEY):
        return min(PROBE_SHARE, int(os.environ.get(SHARE_VARIABLE, PROBE_SHARE)))
    if program == pod.COMPARE:
        return COMPARISON
    of_many = (pod.CHECKOUT, pod.RECORDER, pod.PUSHER, pod.COLLECT, pod.FORMAT)
    return pod.TERMINATION_SHARE if program in of_many else pod.TERMINATION_LIMIT


def _limit_of_failure(program: str) -> int:
    """Why it failed is a few words, which fit whatever stands in the pod."""
    most = limit(program)
    return most if most == pod.TERMINATION_LIMIT else min(most, COMPARISON_WITH_SETUP)


def write(result: Any, program: str = "") -> None:
    """Leave `result`, one of the dataclasses of `bernstein.api.pod`.

    Raises ValueError when it does not fit: the kubelet would cut it, and half of it is no JSON.
    """
    if not fits(result, program):
        raise ValueError(f"the result takes over {limit(program)} bytes")
    # Written in place: the kubelet mounts this one file, so a rename would not reach it.
    path = Path(os.environ.get(PATH_VARIABLE, pod.TERMINATION_LOG))
    path.write_text(encoding.dump(result))


def write_failure(
    reason: str, message: str, program: str = "", asked: AskedForge | None = None
) -> None:
    """Leave why the program failed; the message is sanitised and cut to fit."""
    texts = (sanitise.text(message, most) for most in _MESSAGE_LIMITS)
    failures = (pod.Failure(reason, text, asked) for text in texts)
    most = _limit_of_failure(program)
    write(next(each for each in failures if len(encoding.dump(each)) <= most), program)


def fits(result: Any, program: str = "") -> bool:
    """Whether the program's result is short enough to be left whole; its JSON is ASCII."""
    return len(encoding.dump(result)) <= limit(program)
