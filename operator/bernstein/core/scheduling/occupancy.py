"""What a Task has that others wait for: an agent, and its files.

A Task that is being deleted has both until it is gone.
"""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.fsm import ACTIVE, VERIFYING


def holds_files(state: TaskState | None, *, stalled: bool) -> bool:
    """A Task holds its files from the claim until its work has landed, or waits for a person."""
    return state in ACTIVE or (state in VERIFYING and not stalled)


def is_active(task: Task | None) -> bool:
    """Whether it takes one of the agents."""
    return task is not None and task.status.state in ACTIVE


def is_ending(task: Task) -> bool:
    """Somebody cancels or deletes it: it gets nothing any more."""
    return task.spec.cancel is not None or task.metadata.deletion_timestamp is not None
