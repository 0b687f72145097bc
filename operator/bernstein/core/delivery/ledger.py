"""The ledger of a Plan: what its Tasks landed in the integration ref, in order, and who they are.

Each landing stands in the row of its Task, with its number. What it stands on follows from the
order: the landing before it. So the ledger is a chain from the commit on which the Plan began to
the one that it delivers, and whatever else is on the ref is none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bernstein.api.delivery import Delivery
from bernstein.api.plan import LedgerEntry, PlanStatus, PlanTask
from bernstein.api.task import Task

LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Stands for a time that nobody has noted: what has none comes first."""


@dataclass(frozen=True)
class Ledger:
    """The ledger as statuses of Tasks go on with it."""

    landed: Mapping[str, LedgerEntry]
    """All landings, by name of the Task."""
    tip: str
    """Where the integration ref is, if nobody else has moved it."""
    tree: str | None
    outside: tuple[str, ...]
    """Names of Tasks that are Merged into the integration ref, but in no place of the chain."""


def is_member(status: PlanStatus, task: Task) -> bool:
    """Whether a Task that the Plan owns is that of one of its steps.

    A row that has landed is of its Task for good: another one of that name is none of the Plan's.
    """
    return not status.is_mapped or _is_of(_row(status.tasks, task.metadata.name), task)


def members(status: PlanStatus, owned: Mapping[str, Task]) -> dict[str, Task]:
    """Those of its own Tasks that are of one of its steps, by name."""
    if not status.is_mapped:
        return dict(owned)
    rows = {row.name: row for row in status.tasks}
    return {name: task for name, task in owned.items() if _is_of(rows.get(name), task)}


def _row(rows: Iterable[PlanTask], name: str) -> PlanTask | None:
    return next((row for row in rows if row.name == name), None)


def _is_of(row: PlanTask | None, task: Task) -> bool:
    return row is not None and (row.landed is None or row.uid == task.metadata.uid)


def read(status: PlanStatus, owned: Mapping[str, Task]) -> Ledger:
    """The ledger with what Tasks have landed since: each on the commit that the one before left.

    Clocks play no part in that. `owned` are the Plan's own Tasks, by name, and the Plan has begun.
    """
    integration = status.integration
    assert integration is not None
    tried = sorted(name for name, task in owned.items() if task.status.delivery is not None)
    merged = {
        name: delivery
        for name in tried
        if (delivery := _merged(owned[name], integration.ref)) is not None
    }
    ours = members(status, {name: owned[name] for name in merged})
    landed = {row.name: row.landed for row in status.tasks if row.landed is not None}
    since = _since(integration.tip, [task for name, task in ours.items() if name not in landed])
    if not landed and integration.sha is not None:
        before = {name: merged[name] for name in ours if name not in since}
        landed = _adopted(before, integration.sha)
    tip, tree = integration.tip, integration.tree
    first = 1 + max((entry.number for entry in landed.values()), default=0)
    for number, name in enumerate(since, first):
        landed[name] = entry = _entry(number, merged[name])
        tip, tree = entry.sha, merged[name].tree
    strange = tuple(name for name in merged if name not in landed or name not in ours)
    return Ledger(landed, tip, tree, strange)


def _since(tip: str, merged: Iterable[Task]) -> list[str]:
    """Names of those that landed on this tip, one after the other."""
    on_base: dict[str, Task] = {}
    for task in merged:
        if task.status.verification is not None:
            on_base.setdefault(task.status.verification.base, task)
    found = []
    while (task_there := on_base.pop(tip, None)) is not None:
        assert task_there.status.delivery is not None
        found.append(task_there.metadata.name)
        tip = task_there.status.delivery.sha or ""
    return found


def _merged(task: Task, ref: str) -> Delivery | None:
    """What the Task landed in this ref."""
    delivery = task.status.delivery
    if delivery is None or (delivery.state, delivery.onto) != ("Merged", ref):
        return None
    return delivery


def _entry(number: int, delivery: Delivery) -> LedgerEntry:
    assert delivery.sha is not None
    return LedgerEntry(number=number, sha=delivery.sha)


def _adopted(merged: Mapping[str, Delivery], end: str) -> dict[str, LedgerEntry]:
    """The landings up to `end`, which is all that an older release wrote down of them.

    They are numbered by their times: of Tasks that are deleted nobody knows on what they landed.
    """
    by_time = sorted(merged.items(), key=lambda item: item[1].landed_at or LONG_AGO)
    last = next((n for n, (_, delivery) in enumerate(by_time, 1) if delivery.sha == end), None)
    return {name: _entry(n, delivery) for n, (name, delivery) in enumerate(by_time[:last], 1)}
