"""Claims that this process knows of: those that it found, and those that it has written.

One of the process before may come later still, when the API server applies it although nobody waits
for its answer any more. By then its place, its files and its money may be another Task's.
"""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus

_Claim = tuple[str, int]
"""Uid of a Task, and which of its sessions is to be made."""


class Claims:
    """Made when this process begins to lead, of the Tasks that there are then."""

    def __init__(self, tasks: Iterable[Task] = ()) -> None:
        self._known: set[_Claim] = {
            _claim(task, task.status) for task in tasks if _is_claimed(task.status)
        }

    def note(self, task: Task, status: TaskStatus) -> None:
        """This status is to be written. One without an answer counts, too."""
        if _is_claimed(status):
            self._known.add(_claim(task, status))

    def is_late(self, task: Task) -> bool:
        """Whether a process that led before has claimed the Task, and that was applied since."""
        return _is_claimed(task.status) and _claim(task, task.status) not in self._known


def _is_claimed(status: TaskStatus) -> bool:
    return status.state is TaskState.CLAIMED


def _claim(task: Task, status: TaskStatus) -> _Claim:
    return task.metadata.uid, status.sessions
