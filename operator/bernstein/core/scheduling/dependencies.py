"""Whether the Tasks that a Task depends on are Closed, or ever will be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import NamedTuple

from bernstein.api.plan import Plan
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.core import owners
from bernstein.core.fsm import is_final
from bernstein.core.graph import circle
from bernstein.core.snapshot import TaskSnapshot, Upstream

_NAMED = 3
"""Tasks that the message names."""
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
    found = _upstream(snapshot)
    if isinstance(found, Unmet):
        return found
    for group in found:
        if group.missing is not None:
            text = f"Task '{group.missing}', which this one depends on, does not exist"
            remedy = _remedy_for_missing(snapshot, group.missing)
            return Unmet(Reason.DEPENDENCY_FAILED, text, remedy)
        if group.ended is not None:
            name, state = group.ended.metadata.name, group.ended.status.state
            return _never(f"Task '{name}' ended as {state}")
    return _pending(snapshot, found)


def _pending(snapshot: TaskSnapshot, groups: list[Upstream]) -> Unmet | None:
    """Why it waits for Tasks that all may be Closed yet."""
    number = sum(len(group.waiting) for group in groups)
    if not number:
        return None
    names = _circle(snapshot)
    if names:
        text = f"Tasks wait for each other in a circle: {' → '.join(names)}"
        return Unmet(Reason.DEPENDENCY_FAILED, text, _BREAK)
    stuck = next((group.stuck for group in groups if group.stuck is not None), None)
    if stuck is not None:
        name = stuck.metadata.name
        text = f"Task '{name}' itself waits for what never comes"
        return Unmet(Reason.DEPENDENCY_FAILED, text, f"Look at what Task '{name}' waits for.")
    first = islice(chain.from_iterable(group.waiting for group in groups), _NAMED)
    more = f" and {number - _NAMED} more" if number > _NAMED else ""
    text = "waits for " + ", ".join(task.metadata.name for task in first) + more
    return Unmet(WaitReason.DEPENDENCY_PENDING, text)


def _upstream(snapshot: TaskSnapshot) -> list[Upstream] | Unmet:
    """What it depends on: the Tasks that it names, and those of each stage that it names."""
    spec, plan = snapshot.task.spec, snapshot.plan
    groups = [_look(spec.depends_on, snapshot.tasks)]
    if not spec.depends_on_stages:
        return groups
    if plan is None:
        text = "it depends on stages, but belongs to no Plan"
        return Unmet(Reason.DEPENDENCY_FAILED, text, "Apply it under a new name with dependsOn.")
    if not plan.status.expanded:
        return Unmet(WaitReason.DEPENDENCY_PENDING, "its Plan still makes its Tasks")
    for stage in spec.depends_on_stages:
        group = _of_stage(snapshot, plan, stage)
        if group is None:
            return _never(f"its Plan has no Task of the stage '{stage}'")
        groups.append(group)
    return groups


def _look(names: Iterable[str], tasks: Mapping[str, Task]) -> Upstream:
    waiting: list[Task] = []
    stuck: Task | None = None
    for name in names:
        other = tasks.get(name)
        if other is None:
            return Upstream(missing=name)
        if other.status.state is TaskState.CLOSED:
            continue
        if is_final(other.status, other.spec.max_retries):
            return Upstream(ended=other)
        its = other.status.waiting
        if stuck is None and its is not None and its.reason == Reason.DEPENDENCY_FAILED:
            stuck = other
        waiting.append(other)
    return Upstream(stuck=stuck, waiting=tuple(waiting))


def _of_stage(snapshot: TaskSnapshot, plan: Plan, stage: str) -> Upstream | None:
    """The Tasks of one stage, as the Plan's rows name them; only those that the Plan owns count."""
    known, uid = snapshot.stages, plan.metadata.uid
    if uid not in known:
        mapped = plan.status.is_mapped
        names: dict[str, list[str]] = {}
        for row in plan.status.tasks:
            if row.step is not None or not mapped:
                names.setdefault(row.stage, []).append(row.name)
        rows = (row.name for row in plan.status.tasks)
        found = ((name, snapshot.tasks.get(name)) for name in rows)
        owned = {n: task for n, task in found if task is not None and owners.plan_uid(task) == uid}
        known[uid] = {name: _look(of_one, owned) for name, of_one in names.items()}
    return known[uid].get(stage)


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
    return circle(_Graph(snapshot.tasks), snapshot.task.metadata.name, _EDGES)


class _Graph(Mapping[str, tuple[str, ...]]):
    """What each Task names, read where the search comes by: every Task that waits is searched from,
    and a copy of the whole for each of them is too much."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self._tasks = tasks

    def __getitem__(self, name: str) -> tuple[str, ...]:
        return self._tasks[name].spec.depends_on

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)
