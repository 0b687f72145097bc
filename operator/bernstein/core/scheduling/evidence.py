"""What a Task has met of what is broken outside, and for how long that concerns others."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import Tried, Waiting
from bernstein.core.reasons import policy

EVIDENCE_SECONDS = 300
"""For which others wait for what a session said, or for a Task that something else keeps from
trying. Two whose word is older say it again, by trying; after as long again it counts no more."""

_IN_ITS_POD = (Reason.REPOSITORY_UNREACHABLE,)
"""What an agent may bring about for what pushes its work: it may leave more than gets through in
time."""


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
    left = []
    if waiting.reason != waiting.tried.reason:
        left.append(EVIDENCE_SECONDS - (now - waiting.since).total_seconds())
    if policy(waiting.tried.reason).unconfirmed or met_beside_its_agent(status):
        # Whatever it waits for by now: else it would count anew each time it waits for another.
        lasts = 2 * EVIDENCE_SECONDS if ready else EVIDENCE_SECONDS
        left.append(lasts - (now - _failed_at(status, waiting, waiting.tried)).total_seconds())
    return min(left, default=None)


def until_said_again(status: TaskStatus, *, ready: bool, now: datetime) -> float | None:
    """Seconds until it may try whatever others try, for its session to say again what counts
    still, 0 or less: it may, if nothing else keeps it from trying; None: it has said no such thing.
    """
    waiting = status.waiting
    if not ready or waiting is None or waiting.tried is None or status.state is TaskState.CLAIMED:
        return None
    if not (policy(waiting.tried.reason).unconfirmed or met_beside_its_agent(status)):
        return None
    failed = _failed_at(status, waiting, waiting.tried)
    return EVIDENCE_SECONDS - (now - failed).total_seconds()


def met_beside_its_agent(status: TaskStatus) -> bool:
    """Whether what it has met may be its agent's doing: that ran before in the same pod. What a
    checkout meets is no agent's."""
    waiting = status.waiting
    if waiting is None or waiting.tried is None or waiting.tried.reason not in _IN_ITS_POD:
        return False
    moves = reversed(status.history)
    failed = next((move for move in moves if move.reason == waiting.tried.reason), None)
    return failed is not None and failed.from_state == TaskState.IN_PROGRESS


def met_at(status: TaskStatus) -> datetime | None:
    """When it failed by what it has met; None: it has met nothing."""
    waiting = status.waiting
    if waiting is None or waiting.tried is None:
        return None
    return _failed_at(status, waiting, waiting.tried)


def _failed_at(status: TaskStatus, waiting: Waiting, tried: Tried) -> datetime:
    last = status.history[-1] if status.history else None
    return last.time if last is not None and last.reason == tried.reason else waiting.since
