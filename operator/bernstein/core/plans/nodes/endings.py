"""How runs of nodes have ended, with the values that conditions look at.

`result` and `output` are an agent's words. Nothing but a condition that people have written decides
on them, and what lands is judged as all work is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.plans.workflow import NodeStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Output, Task
from bernstein.core.documents import values
from bernstein.core.documents.values import Json, Problem
from bernstein.core.plans.member import failed_for_good
from bernstein.core.plans.nodes import tasks
from bernstein.core.plans.workflows import course, definition
from bernstein.core.plans.workflows.course import Ending
from bernstein.core.plans.workflows.definition import Definition
from bernstein.core.snapshot import PlanSnapshot

Ended = Literal["done", "failed", "cancelled"]
_WORDS = frozenset({"result", "output"})
"""What is an agent's, and goes with its Task."""


def endings(snapshot: PlanSnapshot, status: PlanStatus) -> Mapping[str, Ending]:
    """The endings on which something is to be decided now, by name of the node.

    One whose values are still to be read is left out: see `outputs`.
    """
    found: dict[str, Ending] = {}
    for node, row, task, ended in _ended(snapshot, status):
        left = _left(snapshot, node, task)
        if left is not None and left.sha256 not in snapshot.outputs:
            continue
        result = _result(snapshot, task)
        output = snapshot.outputs[left.sha256] if left is not None else _parsed(result)
        found[node.name] = Ending(row.run or node.run, ended, result, output)
    return found


def outputs(snapshot: PlanSnapshot) -> tuple[Output, ...]:
    """The values that have to be read before something can be decided."""
    every = (_left(snapshot, n, t) for n, _, t, _ in _ended(snapshot, snapshot.plan.status))
    return tuple(dict.fromkeys(left for left in every if left is not None))


def deleted(snapshot: PlanSnapshot) -> tuple[PlanTask, ...]:
    """The rows of Tasks that are gone although something is still decided on what their agents have
    said or left: to a condition both are null."""
    reads = _definition(snapshot).reads if snapshot.plan.status.workflow is not None else None
    return tuple(
        row
        for node, row, task, _ in _ended(snapshot, snapshot.plan.status)
        if task is None and reads is not None and reads(node.name) & _WORDS
    )


def _ended(
    snapshot: PlanSnapshot, status: PlanStatus
) -> Iterator[tuple[NodeStatus, PlanTask, Task | None, Ended]]:
    if status.workflow is None:
        return
    needed = course.needed(_definition(snapshot), status.workflow)
    for node, row in tasks.current(status):
        if node.name not in needed:
            continue
        task = snapshot.tasks.get(row.name)
        ended = _how(row) if task is None else _how_task(task)
        if ended is not None:
            yield node, row, task, ended


def _how_task(task: Task) -> Ended | None:
    if task.status.state is TaskState.CLOSED:
        return "done"
    if task.status.state is TaskState.CANCELLED:
        return "cancelled"
    return "failed" if failed_for_good(task) else None


def _how(row: PlanTask) -> Ended | None:
    """Of a Task that is not there: it is not made yet, or it was deleted."""
    if row.uid is None:
        return None
    return {TaskState.CLOSED: "done", TaskState.FAILED: "failed"}.get(  # type: ignore[return-value]
        TaskState(row.state), "cancelled"
    )


def _left(snapshot: PlanSnapshot, node: NodeStatus, task: Task | None) -> Output | None:
    """The values that it has left, where they are asked for."""
    if task is None or "output" not in _definition(snapshot).reads(node.name):
        return None
    return task.status.output


def _result(snapshot: PlanSnapshot, task: Task | None) -> str | None:
    """The end of the last message of its last agent."""
    if task is None:
        return None
    uid, name = task.metadata.uid, task.status.session
    last = (s for s in snapshot.sessions if s.metadata.name == name and s.spec.task_ref.uid == uid)
    outcome = next((s.status.outcome for s in last), None)
    return outcome.text or None if outcome is not None else None


def _parsed(result: str | None) -> Json:
    """A result that is JSON, as values."""
    value = values.parsed(result.encode("utf-8", "replace")) if result is not None else None
    return None if isinstance(value, Problem) else value


def _definition(snapshot: PlanSnapshot) -> Definition:
    workflow = snapshot.plan.spec.workflow
    assert workflow is not None
    return definition.of(workflow)
