"""Whether the Tasks that a Task depends on are Closed, or ever will be."""

from __future__ import annotations

from typing import NamedTuple

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.core import owners
from bernstein.core.fsm import is_final
from bernstein.core.graph import circle
from bernstein.core.snapshot import TaskSnapshot

_EDGES = 5000
"""Edges that the search for a circle follows at most: it runs with every look at a Task."""


class Unmet(NamedTuple):
    """Why a Task waits for others."""

    reason: str
    """DependencyFailed where one will never be Closed, else DependencyPending."""
    message: str
    remedy: str | None = None
    """For this very case; None: the reason's."""


_BREAK = "Apply the Task under a new name with other dependsOn: it cannot be changed in this one."


def unmet(snapshot: TaskSnapshot) -> Unmet | None:
    """Why the Task waits for those that it depends on; None: all are Closed."""
    waiting: list[Task] = []
    for name in snapshot.task.spec.depends_on:
        other = snapshot.tasks.get(name)
        if other is None:
            text = f"Task '{name}', which this one depends on, does not exist"
            return Unmet(Reason.DEPENDENCY_FAILED, text, _remedy_for_missing(snapshot, name))
        if other.status.state is TaskState.CLOSED:
            continue
        if is_final(other.status, other.spec.max_retries):
            return _never(f"Task '{name}' ended as {other.status.state}")
        waiting.append(other)
    if not waiting:
        return None
    names = _circle(snapshot)
    if names:
        text = f"Tasks wait for each other in a circle: {' → '.join(names)}"
        return Unmet(Reason.DEPENDENCY_FAILED, text, _BREAK)
    for task in waiting:
        its = task.status.waiting
        if its is not None and its.reason == Reason.DEPENDENCY_FAILED:
            name = task.metadata.name
            text = f"Task '{name}' itself waits for what never comes"
            return Unmet(Reason.DEPENDENCY_FAILED, text, f"Look at what Task '{name}' waits for.")
    upstream = [task.metadata.name for task in waiting]
    more = f" and {len(upstream) - 3} more" if len(upstream) > 3 else ""
    return Unmet(WaitReason.DEPENDENCY_PENDING, "waits for " + ", ".join(upstream[:3]) + more)


def _never(message: str) -> Unmet:
    return Unmet(Reason.DEPENDENCY_FAILED, message)


def _remedy_for_missing(snapshot: TaskSnapshot, name: str) -> str | None:
    """A Plan does not make a deleted Task again."""
    if owners.plan_of(snapshot.task) is not None:
        return None
    return f"Apply Task '{name}', or apply this one under a new name without it in dependsOn."


def _circle(snapshot: TaskSnapshot) -> tuple[str, ...]:
    """The shortest way from the Task back to itself; empty when there is none.

    Tasks of a Plan have none: the Plan was checked before they were made.
    """
    if owners.plan_of(snapshot.task) is not None:
        return ()
    upstream = {name: task.spec.depends_on for name, task in snapshot.tasks.items()}
    return circle(upstream, snapshot.task.metadata.name, _EDGES)
