"""New and Open Tasks. The schedule of the Project decides when they start, and why they wait."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import TaskDecision
from bernstein.core.approvals import plans
from bernstein.core.scheduling import chain, expressions, opening
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.parts import subtasks


def decide_new(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """A Task that nobody has looked at yet is Open; Planned, where a person has yet to approve its
    Plan."""
    of_plan = snapshot.plan.status if snapshot.plan is not None else None
    if plans.is_unapproved(of_plan):
        return TaskDecision(opening.opened(snapshot.task, status, now, TaskState.PLANNED))
    return decide_open(snapshot, opening.opened(snapshot.task, status, now), now)


def decide_open(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """A Task without a Project is in no schedule: then this says so. No schedule reads patterns.

    Of all others the schedule says what they wait for, also of one whose Project has come since.
    """
    if subtasks.is_split(status):
        return TaskDecision(subtasks.resumed(status, now))
    status = expressions.judged(snapshot.task, status, now)
    wait = chain.first((chain.project_gone,), snapshot, now)
    if wait is not None:
        return TaskDecision(opening.waits(snapshot, status, wait, now))
    return TaskDecision(status)
