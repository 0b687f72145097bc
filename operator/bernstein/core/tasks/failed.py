"""Failed, and Orphaned, mostly on its way there: tried again while retries are left."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.requests import RETRY
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import TaskDecision, give_up
from bernstein.core.fsm import may_retry, move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import fail

_OUT_OF_CONFLICT = (TaskState.DONE, Reason.MERGE_CONFLICT)
"""From where, and why, `requests` moves it to Failed; so does the operator, by itself."""


def decide_failed(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Open again while a retry is left; without one Failed is final."""
    if not may_retry(status, snapshot.task.spec.max_retries):
        return TaskDecision(status, give_up(snapshot.jobs.values()))
    return TaskDecision(move(status, TaskState.OPEN, RETRY, now, actor=_who_retries(status)))


def _who_retries(status: TaskStatus) -> str:
    """Whose second move it is where a person asked for another round of work in conflict."""
    last = status.history[-1] if status.history else None
    asked = last is not None and (last.from_state, last.reason) == _OUT_OF_CONFLICT
    return last.actor if last is not None and asked else "operator"


def decide_orphaned(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Failed: the session of the Task was lost. One that a person killed is made anew."""
    if status.history and status.history[-1].reason == Reason.KILLED:
        actor = status.history[-1].actor
        return TaskDecision(move(status, TaskState.OPEN, Reason.KILLED, now, actor=actor))
    return TaskDecision(fail(snapshot, status, Reason.HEARTBEAT_LOST, now))
