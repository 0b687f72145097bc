"""That a Task is split: at the time when its session would start, where its spec has its subtasks,
or once a session has left them.

    Open ── nothing keeps it back, and its spec has subtasks ──▶ WaitingForSubtasks
    InProgress ── its session has left subtasks ──▶ WaitingForSubtasks

Its status names them before they are made. It is one attempt, whoever does the parts.
"""

from __future__ import annotations

from datetime import datetime

from bernstein.api.states import TaskState
from bernstein.api.task import Split, Subtask, Task, TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.fsm import move
from bernstein.core.sanitise import count
from bernstein.core.waiting import waits


def split(task: Task, status: TaskStatus, of: Split, number: int, now: datetime) -> TaskStatus:
    """The status of a Task that is split into so many, for the so many'th time."""
    moved = move(status, TaskState.WAITING_FOR_SUBTASKS, "Split", now)
    rows = tuple(Subtask(name=name) for name in names_of(task, of.number, number))
    return waiting(moved.model_copy(update={"split": of, "subtasks": rows}), now)


def next_number(status: TaskStatus) -> int:
    """The number of its next split, in the names of its subtasks."""
    return 1 + (status.split.number if status.split is not None else 0)


def names_of(task: Task, split: int, count: int) -> tuple[str, ...]:
    """The names of so many subtasks of a Task that is split for the so many'th time."""
    meta = task.metadata
    return tuple(
        names.subtask(meta.name, meta.uid, split, number) for number in range(1, count + 1)
    )


def waiting(status: TaskStatus, now: datetime) -> TaskStatus:
    """The status that waits for its subtasks, and for nobody else."""
    rows = status.subtasks or ()
    closed = sum(row.state == TaskState.CLOSED for row in rows)
    text = f"{closed} of {count(len(rows), 'subtask')} Closed"
    return waits(status, WaitReason.SUBTASKS_PENDING, text, now)
