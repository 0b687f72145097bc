"""Whether a Plan still moves, and what has stopped it where it does not."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.plan import PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.core import conditions
from bernstein.core.conditions import busy, is_stalled, stalled
from bernstein.core.fsm import ACTIVE, VERIFYING
from bernstein.core.plans.tally import failed_for_good
from bernstein.core.reasons import POLICIES, with_remedy
from bernstein.core.snapshot import PlanSnapshot

_MOVING = frozenset(
    {
        WaitReason.MAX_AGENTS,
        WaitReason.FILE_OVERLAP,
        WaitReason.BATCH_WAITS,
        WaitReason.PLAN_STARTING,
        WaitReason.MERGE_QUEUE,
    }
)
"""Reasons to wait that other Tasks or the Plan itself take away."""

_PASSING = frozenset(reason for reason, row in POLICIES.items() if row.passes)


def rest(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a suspended Plan, which is at work until what had begun has ended."""
    at_work = ACTIVE | VERIFYING
    if any(t.status.state in at_work and not is_stalled(t.status) for t in snapshot.tasks.values()):
        return busy(status, "Suspending", "what had begun goes on to its end", now)
    resting = conditions.drop(status.conditions, ConditionType.RECONCILING)
    return status.model_copy(update={"conditions": resting})


def watch(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a Plan that is at work: Running, or Stalled or Failed with what stops it."""
    cause = None if any(_moves(t) for t in snapshot.tasks.values()) else _what_stops(snapshot)
    if cause is None:
        return busy(
            status.model_copy(update={"phase": "Running"}), "Running", "Tasks are running", now
        )
    reason, text = cause
    phase = "Failed" if reason == Reason.TASK_FAILED else "Stalled"
    status = status.model_copy(update={"phase": phase})
    # A Task's own message has its remedy already.
    message = with_remedy(text, reason) if reason == Reason.TASK_FAILED else text
    return stalled(status, reason, message, now)


def _moves(task: Task) -> bool:
    """Whether the Task gets further without a person and without other Tasks."""
    status = task.status
    if status.state in (TaskState.CLOSED, TaskState.CANCELLED) or failed_for_good(task):
        return False
    if is_stalled(status):
        return False
    if status.state is TaskState.OPEN and status.queue is not None:
        return status.queue.reason in _MOVING | _PASSING
    return True


def _what_stops(snapshot: PlanSnapshot) -> tuple[str, str] | None:
    """(reason, message): why nothing moves; None: Tasks only have to look again."""
    tasks = list(snapshot.tasks.values())
    failed = [t for t in tasks if failed_for_good(t) or t.status.state is TaskState.CANCELLED]
    if failed:
        which = ", ".join(f"'{t.metadata.name}' ({_reason(t)})" for t in failed[:5])
        return Reason.TASK_FAILED, f"{len(failed)} Tasks ended without result: {which}."
    deleted = [r.name for r in snapshot.plan.status.tasks if r.name not in snapshot.tasks]
    if deleted:
        text = f"Tasks were deleted and are not made again: {', '.join(deleted[:5])}."
        return Reason.TASK_FAILED, text
    for task in tasks:
        stall = conditions.find(task.status.conditions, ConditionType.STALLED)
        if stall is not None and stall.reason != Reason.DEPENDENCY_FAILED:
            return stall.reason, f"Task '{task.metadata.name}': {stall.message}"
    return None


def _reason(task: Task) -> str:
    return task.status.history[-1].reason if task.status.history else str(task.status.state)
