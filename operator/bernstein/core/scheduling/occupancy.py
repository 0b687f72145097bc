"""What a Task has that others may wait for: an agent, files, its turn, a hold, a place in the lane.

The lane is the line of Tasks that land in the same ref. All this is defined here alone: the
scheduler counts by it, and the controllers tell by it whom a change frees.
"""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core.conditions import is_stalled
from bernstein.core.fsm import ACTIVE, VERIFYING

_IN_LINE = frozenset({WaitReason.MAX_AGENTS, WaitReason.FILE_OVERLAP, WaitReason.BATCH_WAITS})


def holds_files(state: TaskState | None, *, stalled: bool) -> bool:
    """A Task holds its files from the claim until its work has landed, or waits for a person."""
    return state in ACTIVE or (state in VERIFYING and not stalled)


def is_in_line(status: TaskStatus) -> bool:
    """It has not asked for its turn yet, or only agents and files were missing when it did."""
    return status.queue is None or status.queue.reason in _IN_LINE


def is_ready(task: Task | None) -> bool:
    """Open, and only agents and files are between it and a session."""
    return task is not None and task.status.state is TaskState.OPEN and is_in_line(task.status)


def is_active(task: Task | None) -> bool:
    """Whether it takes one of the agents."""
    return task is not None and task.status.state in ACTIVE


def taken_by(task: Task | None) -> frozenset[tuple[str, ...]]:
    """What others must wait for until the Task gives it back."""
    if task is None or task.metadata.deletion_timestamp is not None:
        return frozenset()
    status = task.status
    taken: set[tuple[str, ...]] = set()
    if is_active(task):
        taken |= {("agent",), ("turn",)}
    if holds_files(status.state, stalled=is_stalled(status)):
        taken.add(("files",))
    if is_ready(task) and task.spec.cancel is None:
        taken.add(("turn",))
    if status.hold is not None:
        taken.add(("hold", status.hold.reason, status.hold.retry_at.isoformat()))
    return frozenset(taken)


def place_in_lane(task: Task | None) -> str | None:
    """The step of its landing while others may wait behind it; None: it is not in the lane."""
    if task is None or task.metadata.deletion_timestamp is not None:
        return None
    status = task.status
    if status.state is not TaskState.DONE or status.delivery is None or is_stalled(status):
        return None
    return status.delivery.step
