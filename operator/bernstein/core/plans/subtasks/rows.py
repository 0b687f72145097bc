"""The subtasks of a Plan's Tasks, in the rows of its status.

    a Task is split ─┬▶ a row for each subtask (`with_rows`) ──▶ the Task makes them
                     └▶ none, as the Plan has no room for all of them: it needs a person
    nobody waits for them any more, as their parent was cancelled, deleted, or is done anew
                    ──▶ what is left of them is cancelled (`cancels`)

A Plan is whole when the Tasks of its steps are: subtasks that came to nothing do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import Cancel
from bernstein.core.actions import CancelTasks
from bernstein.core.plans.size import room_for_parts
from bernstein.core.snapshot import PlanSnapshot

_NOT_WAITED_FOR = Cancel(reason="the Task that was split into it goes on without it", by="operator")
_OVER = (TaskState.CLOSED, TaskState.CANCELLED)


def with_rows(snapshot: PlanSnapshot, status: PlanStatus) -> PlanStatus:
    """The status with a row for each subtask that its Tasks wait for, behind all others: for all of
    one Task, or for none. One that was never made, and is waited for no more, counts as
    cancelled."""
    waited = _waited_for(snapshot)
    if not waited and not _parts(status):
        return status
    rows = tuple(_given_up(row, waited) for row in status.tasks)
    known = {row.name: row for row in rows}
    new = [
        PlanTask(name=name, stage="-", repository=known[parent].repository, parent=parent)
        for name, parent in sorted(waited.items(), key=lambda item: item[1])
        if parent in known and name not in known
    ]
    if not new and all(was is row for was, row in zip(status.tasks, rows, strict=True)):
        return status
    status = status.model_copy(update={"tasks": rows})
    of = snapshot.plan.model_copy(update={"status": status})
    added = _with_room(of, snapshot.tasks, new)
    return status.model_copy(update={"tasks": (*rows, *added)}) if added else status


def _with_room(plan: Plan, tasks: Mapping[str, Task], new: list[PlanTask]) -> list[PlanTask]:
    """Those of them for which the Plan has room: Tasks that are split at the same time have been
    told of the same."""
    kept = [row for row in new if _has_own(plan, tasks[row.parent or ""])]
    rest = [row for row in new if row not in kept]
    room, found = room_for_parts(plan) if rest else 0, kept
    for _, its in groupby(rest, key=lambda row: row.parent):
        rows = [*its]
        if len(rows) <= room:
            room, found = room - len(rows), [*found, *rows]
    return found


def have_room(plan: Plan, parent: Task, number: int) -> bool:
    """Whether so many subtasks of a Task, all that it waits for without a row, will get them."""
    return _has_own(plan, parent) or number <= room_for_parts(plan)


def _has_own(plan: Plan, parent: Task) -> bool:
    """Whether the Plan itself says its subtasks, and has no rows of them yet: for these there is
    room."""
    name = parent.metadata.name
    return bool(parent.spec.subtasks) and all(row.parent != name for row in plan.status.extra)


def _given_up(row: PlanTask, waited: dict[str, str]) -> PlanTask:
    unmade = row.parent is not None and row.uid is None and row.state != TaskState.CANCELLED
    if not unmade or row.name in waited:
        return row
    return row.model_copy(update={"state": str(TaskState.CANCELLED)})


def cancels(snapshot: PlanSnapshot, status: PlanStatus) -> tuple[CancelTasks, ...]:
    """What ends subtasks that nobody waits for, however they stand."""
    parts = _parts(status)
    if not parts:
        return ()
    waited = _waited_for(snapshot)
    found = (snapshot.tasks.get(name) for name in parts if name not in waited)
    left = tuple(task.metadata.name for task in found if task is not None and _goes_on(task))
    return (CancelTasks(left, _NOT_WAITED_FOR),) if left else ()


def _parts(status: PlanStatus) -> list[str]:
    """Names of the subtasks that have rows."""
    return [row.name for row in status.extra if row.parent is not None]


def _goes_on(task: Task) -> bool:
    return task.status.state not in _OVER and task.spec.cancel is None


def _waited_for(snapshot: PlanSnapshot) -> dict[str, str]:
    """The Task that waits for each subtask, in order of its own."""
    found: dict[str, str] = {}
    for name, task in snapshot.tasks.items():
        status, split = task.status, task.status.split
        if split is None or split.over or status.state in _OVER:
            continue
        if task.metadata.deletion_timestamp is None:
            found |= dict.fromkeys((each.name for each in status.subtasks or ()), name)
    return found
