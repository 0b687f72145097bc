"""What a Task has met of what is broken outside, and for how long that concerns others."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import Tried, Waiting
from bernstein.core.reasons import policy

EVIDENCE_SECONDS = 300
"""For which others wait for what a session said, or for a Task that something else keeps from
trying."""


def evidence(status: TaskStatus, *, ready: bool, now: datetime) -> Tried | None:
    """What the Task has met, while that concerns others; None: nothing, or it counts no more."""
    if status.waiting is None:
        return None
    left = evidence_lasts(status, ready=ready, now=now)
    return status.waiting.tried if left is None or left > 0 else None


def evidence_lasts(status: TaskStatus, *, ready: bool, now: datetime) -> float | None:
    """Seconds until what it has met counts no more for others, 0 or less: it does not.

    So it is with what its session said, and where something else keeps it from trying, such as
    files. None: as long as it is tried. `ready`: no time keeps the Task from trying.
    """
    waiting = status.waiting
    if waiting is None or waiting.tried is None or status.state is TaskState.CLAIMED:
        return None
    tries_itself = waiting.reason == waiting.tried.reason
    if tries_itself and (ready or not policy(waiting.tried.reason).unconfirmed):
        return None
    return EVIDENCE_SECONDS - (now - _met(status, waiting, waiting.tried)).total_seconds()


def _met(status: TaskStatus, waiting: Waiting, tried: Tried) -> datetime:
    """When its session said so last; since when something else keeps it from trying."""
    last = status.history[-1] if status.history else None
    same = waiting.reason == tried.reason
    return last.time if same and last is not None and last.reason == tried.reason else waiting.since
