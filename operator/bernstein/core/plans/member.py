"""What one Task is to the Plan whose step it is."""

from __future__ import annotations

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import PASSES, WaitReason
from bernstein.core.fsm import ACTIVE, is_final
from bernstein.core.reasons import POLICIES
from bernstein.core.waiting import is_stalled

Order = tuple[bool, bool, str]

_PASSING = frozenset(
    (
        *(reason for reason, passes in PASSES.items() if passes),
        *(reason for reason, row in POLICIES.items() if row.passes),
    )
)
"""Reasons to wait that keep a Plan moving."""
_FOR_OTHERS = (WaitReason.DEPENDENCY_PENDING, WaitReason.SUBTASKS_PENDING)


def failed_for_good(task: Task) -> bool:
    """Whether it is Failed with no retry left."""
    return task.status.state is TaskState.FAILED and is_final(task.status, task.spec.max_retries)


def moves(task: Task) -> bool:
    """Whether the Task goes on by itself: it is at work, or what it waits for passes."""
    status = task.status
    if status.state in (TaskState.CLOSED, TaskState.CANCELLED) or failed_for_good(task):
        return False
    if is_stalled(status) or status.state is TaskState.BLOCKED:
        return False
    if status.state is TaskState.OPEN and status.waiting is not None:
        return status.waiting.reason in _PASSING
    return True


def only_waits(task: Task) -> bool:
    """An agent that is at work may find out whether it goes on to wait; one whose pod has no node
    is not at work."""
    waiting, active = task.status.waiting, task.status.state in ACTIVE
    if waiting is None or failed_for_good(task):
        return False
    return not active or waiting.reason == Reason.UNSCHEDULABLE


def order(task: Task) -> Order:
    """What something outside keeps back comes first, who waits for others of the Plan last."""
    reason = task.status.waiting.reason if task.status.waiting is not None else ""
    return reason in _FOR_OTHERS, reason in PASSES, task.metadata.name


def rounds(task: Task) -> int:
    """Rounds of attempts that requests have granted it."""
    return task.status.round.number if task.status.round is not None else 0
