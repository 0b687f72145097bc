"""Claims that this process knows of: those that it found, and those that it has written.

One of the process before may come later still, when the API server applies it although nobody waits
for its answer any more. By then its place, its files and its money may be another Task's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.kube.resource import Object, uid_of


class Claims:
    """Made when this process begins to lead, of the Tasks that there are then."""

    def __init__(self, tasks: Iterable[Task] = ()) -> None:
        self._known: defaultdict[str, set[int]] = defaultdict(set)
        """Which sessions of a Task are to be made, by its uid."""
        for task in tasks:
            self.note(task, task.status)

    def note(self, task: Task, status: TaskStatus) -> None:
        """This status is to be written. One without an answer counts, too."""
        if _is_claimed(status):
            self._known[task.metadata.uid].add(status.sessions)

    def task_changed(self, old: Object | None, new: Object | None) -> None:
        """An event of a Task: nobody asks for those of one that is gone."""
        if new is None and old is not None:
            self._known.pop(uid_of(old), None)

    def __len__(self) -> int:
        return sum(map(len, self._known.values()))

    def is_late(self, task: Task) -> bool:
        """Whether a process that led before has claimed the Task, and that was applied since."""
        known = self._known.get(task.metadata.uid, ())
        return _is_claimed(task.status) and task.status.sessions not in known


def _is_claimed(status: TaskStatus) -> bool:
    return status.state is TaskState.CLAIMED
