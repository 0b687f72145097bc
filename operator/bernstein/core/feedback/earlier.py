"""What was found in the work that this follows: told to its agent as data.

A node of a workflow that mends another one has to know what was wrong with it, and one that runs
once more what was wrong with itself. So do subtasks that are made anew, as what they had landed was
rejected together: where their step says them, nobody else is told. All of that is of checks and
people, and stands in statuses of Tasks.
"""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.plans.rows import PlanTask
from bernstein.api.states import TaskState
from bernstein.api.task import LONGEST_FEEDBACK, Task
from bernstein.core.sanitise import cut
from bernstein.core.snapshot import TaskSnapshot


def found_before(snapshot: TaskSnapshot) -> str:
    """The findings, each with whose they are; "": there are none."""
    told = [f"Task '{name}' ({where}):\n{text}" for name, where, text in _found(snapshot) if text]
    if not told:
        return ""
    room = LONGEST_FEEDBACK // len(told)
    return "\n\n".join(cut(each, room) for each in told)


def _found(snapshot: TaskSnapshot) -> Iterator[tuple[str, str, str]]:
    for row in _followed(snapshot):
        task = snapshot.tasks.get(row.name)
        if task is not None and row.uid == task.metadata.uid and _has_failed(task):
            where = f"node '{row.node}', run {row.run}; its work has not landed"
            yield row.name, where, task.status.feedback or ""
    whole = _split_anew(snapshot)
    if whole is not None:
        where = "this is a part of it; what its parts had done before is in your files"
        yield whole.metadata.name, where, whole.status.feedback or ""


def _split_anew(snapshot: TaskSnapshot) -> Task | None:
    """What it is a part of, as its step says. By a document a session splits it, which is told
    itself."""
    rows = snapshot.plan.status.extra if snapshot.plan is not None else ()
    name, uid = snapshot.task.metadata.name, snapshot.task.metadata.uid
    own = next((row for row in rows if row.name == name and row.uid in (None, uid)), None)
    whole = snapshot.tasks.get(own.parent or "") if own is not None else None
    if whole is None or not whole.spec.subtasks:
        return None
    return whole if any(row.name == name for row in whole.status.subtasks or ()) else None


def _has_failed(task: Task) -> bool:
    return task.status.state is TaskState.FAILED and bool(task.status.feedback)


def _followed(snapshot: TaskSnapshot) -> Iterator[PlanTask]:
    """The last runs of the nodes that it depends on by a condition, and its own run before."""
    plan = snapshot.plan
    if plan is None or plan.spec.workflow is None or plan.status.workflow is None:
        return
    rows = {row.name: row for row in plan.status.tasks}
    own = rows.get(snapshot.task.metadata.name)
    node = next((n for n in plan.spec.workflow.nodes if own and n.name == own.node), None)
    if own is None or own.run is None or node is None:
        return
    last = {each.name: each.task for each in plan.status.workflow.nodes}
    sources = [edge.source for edge in node.depends_on if edge.condition is not None]
    yield from (rows[name] for s in sources if (name := last.get(s) or "") in rows)
    before = (own.node, own.run - 1)
    yield from (row for row in plan.status.tasks if (row.node, row.run) == before)
