"""Moves of the state machines, checked against their tables, and what states mean."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import SESSION_KIND, TASK_KIND
from bernstein.api.states import (
    SESSION_INITIAL,
    SESSION_MOVES,
    TASK_INITIAL,
    TASK_MOVES,
    SessionState,
    TaskState,
)
from bernstein.api.task import MOST_MOVES, Move, TaskStatus
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES

ACTIVE = frozenset({TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.ORPHANED})
"""An agent works on the Task, or may."""
VERIFYING = frozenset({TaskState.DONE, TaskState.PENDING_APPROVAL})
"""The agent has reported success; the work is being judged or delivered."""


class IllegalTransition(Exception):  # noqa: N818 - the reason's name
    """A move that the table does not know; a bug of ours or a forged status."""

    reason = "IllegalTransition"

    def __init__(self, kind: str, old: str | None, new: str) -> None:
        super().__init__(f"{kind}: {old or 'nothing'} -> {new} is not a legal move")


def move(
    status: TaskStatus, to: TaskState, reason: str, now: datetime, *, actor: str = "operator"
) -> TaskStatus:
    """The status after the move, with the move in its history.

    Raises IllegalTransition.
    """
    old = status.state
    legal = TASK_INITIAL if old is None else TASK_MOVES[old]
    if to not in legal:
        raise IllegalTransition(TASK_KIND, old, to)
    entry = Move(
        from_state=old, to_state=to, actor=actor, reason=reason, attempt=status.attempt, time=now
    )
    return status.model_copy(
        update={"state": to, "history": (*status.history, entry)[-MOST_MOVES:]}
    )


def check_session_move(old: SessionState | None, new: SessionState) -> None:
    """Raises IllegalTransition unless the table has the move; to stay is no move."""
    legal = SESSION_INITIAL if old is None else SESSION_MOVES[old]
    if new != old and new not in legal:
        raise IllegalTransition(SESSION_KIND, old, new)


def is_final(status: TaskStatus, max_retries: int) -> bool:
    """No move will follow: Closed, Cancelled, or Failed with no retry left."""
    if status.state in (TaskState.CLOSED, TaskState.CANCELLED):
        return True
    return status.state is TaskState.FAILED and not may_retry(status, max_retries)


def may_retry(status: TaskStatus, max_retries: int) -> bool:
    """Whether an attempt is left: `maxRetries` 3 means at most four that count, in each round.

    Failures of the infrastructure do not count; they have a cap of their own.
    """
    before = status.round.since if status.round is not None else 0
    return (
        status.attempt - before < 1 + max_retries
        and status.infrastructure_failures <= MAX_INFRASTRUCTURE_FAILURES
    )
