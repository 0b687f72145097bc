"""The ledger of a Plan: what its Tasks landed in the integration ref, in order, and who they are.

Each landing stands in the row of its Task, with its number. What it stands on follows from the
order: the landing before it. So the ledger is a chain from the commit on which the Plan began to
the one that it delivers, and whatever else is on the ref is none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import LedgerEntry, PlanTask
from bernstein.api.task import Task

LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Stands for a time that nobody has noted: what has none comes first."""


@dataclass(frozen=True)
class Ledger:
    """The ledger as statuses of Tasks go on with it."""

    new: Mapping[str, LedgerEntry]
    """The landings that no row says yet, by name of the Task."""
    tip: str
    """Where the integration ref is, if nobody else has moved it."""
    tree: str | None
    outside: tuple[str, ...]
    """Names of Tasks that are Merged into the integration ref, but in no place of the chain."""


def is_member(status: PlanStatus, task: Task) -> bool:
    """Whether a Task that the Plan owns is that of one of its steps.

    A row that has landed is of its Task for good: another one of that name is none of the Plan's.
    """
    return not status.is_mapped or _is_of(_BY_NAME.of(status.tasks).get(task.metadata.name), task)


def is_step_of(status: PlanStatus, row: PlanTask | None, task: Task) -> bool:
    """The same, where the row of its name is known."""
    return not status.is_mapped or _is_of(row, task)


def members(status: PlanStatus, owned: Mapping[str, Task]) -> dict[str, Task]:
    """Those of its own Tasks that are of one of its steps, by name."""
    if not status.is_mapped:
        return dict(owned)
    rows = {row.name: row for row in status.tasks}
    return {name: task for name, task in owned.items() if _is_of(rows.get(name), task)}


def changed_rows(
    old: Sequence[PlanTask], new: Sequence[PlanTask]
) -> list[tuple[PlanTask, PlanTask]]:
    """The rows of as many that are not the same objects: of thousands nearly all are."""
    return [(was, row) for was, row in zip(old, new, strict=True) if was is not row]


class RowsByName:
    """Rows by the names of their Tasks, kept for the Plans that were asked about last: of thousands
    of rows one is asked for at each event of a Task, and thousands at once when all are looked at.
    """

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._known: dict[int, tuple[Sequence[PlanTask], Mapping[str, PlanTask]]] = {}
        """By identity of the rows, which are held so that no others can have it."""

    def of(self, rows: Sequence[PlanTask]) -> Mapping[str, PlanTask]:
        """The first row of each name."""
        known = self._known.pop(id(rows), None)
        if known is None:
            known = rows, {row.name: row for row in reversed(rows)}
        self._known[id(rows)] = known  # last of all
        if len(self._known) > self._most:
            del self._known[next(iter(self._known))]
        return known[1]


_BY_NAME = RowsByName()


def _is_of(row: PlanTask | None, task: Task) -> bool:
    return row is not None and (row.landed is None or row.uid == task.metadata.uid)


class Landings:
    """What the rows of a Plan and its Tasks say of landings in one ref; what has changed of them is
    put in, so that to read them costs as much as has landed since."""

    def __init__(self, ref: str) -> None:
        self._ref = ref
        self._landed: dict[str, LedgerEntry] = {}
        """Those that rows say, by name of the Task."""
        self._last: int | None = 0
        """The highest number of them; None: it is to be looked for."""
        self._merged: dict[str, Task] = {}
        self._ours: set[str] = set()
        """Names of those of them that are of a step."""
        self._open: set[str] = set()
        """Names of those of them that are of none, or that no row says."""

    def put(self, name: str, row: PlanTask | None, task: Task | None, *, member: bool) -> None:
        """Row and Task of this name are these now; `member`: the Task is that of a step."""
        entry, before = row.landed if row is not None else None, self._landed.pop(name, None)
        if entry is not None:
            self._landed[name] = entry
        if entry != before:
            self._last = self._last_with(entry) if before is None else None
        self._merged.pop(name, None)
        for names in (self._ours, self._open):
            names.discard(name)
        if task is None or _merged(task, self._ref) is None:
            return
        self._merged[name] = task
        if member:
            self._ours.add(name)
        if entry is None or not member:
            self._open.add(name)

    def _last_with(self, entry: LedgerEntry | None) -> int | None:
        if entry is None or self._last is None:
            return self._last
        return max(self._last, entry.number)

    def read(self, integration: Integration) -> Ledger:
        """The ledger; `integration` says what it has come to so far."""
        since = _since(integration.tip, (self._merged[name] for name in self._to_come()))
        new: dict[str, LedgerEntry] = {}
        if not self._landed and integration.sha is not None:
            before = {name: self._delivery(name) for name in sorted(self._ours - {*since})}
            new = _adopted(before, integration.sha)
        tip, tree = integration.tip, integration.tree
        first = 1 + max((self._number(), *(entry.number for entry in new.values())))
        for number, name in enumerate(since, first):
            delivery = self._delivery(name)
            new[name] = entry = _entry(number, delivery)
            tip, tree = entry.sha, delivery.tree
        strange = (n for n in sorted(self._open) if n not in self._ours or n not in new)
        return Ledger(new, tip, tree, tuple(strange))

    def _to_come(self) -> list[str]:
        """Names of those of its steps that are Merged, and that no row says."""
        return sorted(self._open & self._ours)

    def _number(self) -> int:
        if self._last is None:
            self._last = max((entry.number for entry in self._landed.values()), default=0)
        return self._last

    def _delivery(self, name: str) -> Delivery:
        delivery = self._merged[name].status.delivery
        assert delivery is not None
        return delivery


def read(status: PlanStatus, owned: Mapping[str, Task]) -> Ledger:
    """The ledger with what Tasks have landed since: each on the commit that the one before left.

    Clocks play no part in that. `owned` are the Plan's own Tasks, by name, and the Plan has begun.
    """
    assert status.integration is not None
    landings, rows = Landings(status.integration.ref), {row.name: row for row in status.tasks}
    for name in rows.keys() | owned.keys():
        row, task = rows.get(name), owned.get(name)
        is_its = task is not None and is_step_of(status, row, task)
        landings.put(name, row, task, member=is_its)
    return landings.read(status.integration)


def _since(tip: str, merged: Iterable[Task]) -> list[str]:
    """Names of those that landed on this tip, one after the other."""
    on_base: dict[str, Task] = {}
    for task in merged:
        if task.status.verification is not None:
            on_base.setdefault(task.status.verification.base, task)
    outside = []
    while (task_there := on_base.pop(tip, None)) is not None:
        assert task_there.status.delivery is not None
        outside.append(task_there.metadata.name)
        tip = task_there.status.delivery.sha or ""
    return outside


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
