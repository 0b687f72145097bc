"""Failed, and Orphaned, mostly on its way there: tried again while retries are left."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import TaskDecision, give_up
from bernstein.core.fsm import may_retry, move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import fail


def decide_failed(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Open again while a retry is left; without one Failed is final."""
    if not may_retry(status, snapshot.task.spec.max_retries):
        return TaskDecision(status, give_up(snapshot.jobs.values()))
    return TaskDecision(move(status, TaskState.OPEN, "Retry", now))


def decide_orphaned(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Failed: the session of the Task was lost. One that a person killed is made anew."""
    if status.history and status.history[-1].reason == Reason.KILLED:
        return TaskDecision(move(status, TaskState.OPEN, Reason.KILLED, now))
    return TaskDecision(fail(snapshot, status, Reason.HEARTBEAT_LOST, now))
