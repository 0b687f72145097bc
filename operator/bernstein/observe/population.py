"""Gauges of how many objects exist, counted at every event of a cache."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.api.meta import ConditionType
from bernstein.observe.registry import one_of, word
from bernstein.observe.series import Series
from bernstein.observe.vocabulary import REASONS

Object = Mapping[str, Any]

NEW = "New"
"""The value for an object without status, which no controller has looked at yet."""


class _Counted(NamedTuple):
    """What an object counts as."""

    namespace: str
    value: str
    stalled: str | None
    waiting: str | None


class Census:
    """The objects of one kind, counted by namespace and one field of their status, by why they need
    a person, and by what they wait for. The core decides both, and writes the one into a condition
    and the other into `status.waiting`; nothing else is read here.

    `changed` is a handler of an informer. To count at a scrape would be to read thousands of
    objects that ended long ago. Scrapes run in a thread of their own, and read copies of what is
    counted.
    """

    def __init__(
        self, field: str | None, needs_person: tuple[str, str] = (ConditionType.STALLED, "True")
    ) -> None:
        self._field = field
        self._needs_person = needs_person
        """The condition that says so, and how it stands then."""
        self._of: dict[str, _Counted] = {}
        """What each counts as, by uid: the last state of one that is deleted may say another."""
        self._shared: dict[_Counted, _Counted] = {}
        """The same, each once."""
        self.values: Tally[tuple[str, ...]] = Tally()
        self.stalled: Tally[tuple[str, ...]] = Tally()
        self.waiting: Tally[tuple[str, ...]] = Tally()

    def changed(self, old: Object | None, new: Object | None) -> None:
        """(None, new): added. (old, new): modified. (last, None): deleted."""
        for obj in (old, new):
            before = self._of.pop(_uid(obj), None) if obj is not None else None
            if before is not None:
                self._count(before, -1)
        if new is not None:
            status = new.get("status") or {}
            counted = _Counted(
                new["metadata"].get("namespace", ""),
                word(status.get(self._field or "") or NEW),
                self._stalled_for(status),
                _waits_for(status),
            )
            self._of[_uid(new)] = self._shared.setdefault(counted, counted)
            self._count(counted, 1)

    def _stalled_for(self, status: Object) -> str | None:
        for condition in status.get("conditions", ()):
            if (condition["type"], condition["status"]) == self._needs_person:
                return one_of(condition["reason"], REASONS)
        return None

    def _count(self, counted: _Counted, by: int) -> None:
        namespace = counted.namespace
        _add(self.values, (namespace, counted.value), by)
        if counted.stalled is not None:
            _add(self.stalled, (namespace, counted.stalled), by)
        if counted.waiting is not None:
            _add(self.waiting, (namespace, counted.waiting), by)


def _waits_for(status: Object) -> str | None:
    """What has ended keeps what it waited for last, and waits for nothing."""
    reason = (status.get("waiting") or {}).get("reason")
    return one_of(reason, REASONS) if reason and not status.get("endedAt") else None


def _add(tally: Tally[tuple[str, ...]], labels: tuple[str, ...], by: int) -> None:
    tally[labels] += by
    if not tally[labels]:
        del tally[labels]


def _uid(obj: Object) -> str:
    return str(obj["metadata"]["uid"])


class Population(Collector):
    """How many objects there are, by namespace and by one field of their status.

    A namespace with objects has a gauge for every value in `known`, also where no object has it, so
    that a graph falls to zero instead of ending.
    """

    def __init__(self, series: Series, census: Census, *, known: Iterable[str] = ()) -> None:
        self._series = series
        self._census = census
        self._known = tuple(known)

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return (_family(self._series, {}),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        tally: dict[tuple[str, ...], int] = dict(self._census.values)
        for namespace in {labels[0] for labels in tally}:
            for value in self._known:
                tally.setdefault((namespace, value), 0)
        return (_family(self._series, tally),)


class ByReason(Collector):
    """How many objects need a person, or wait, by namespace, kind and reason.

    `of_kinds`: what a census counts of a kind, by namespace and reason.
    """

    def __init__(self, series: Series, of_kinds: Mapping[str, Tally[tuple[str, ...]]]) -> None:
        self._series = series
        self._of_kinds = of_kinds

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return (_family(self._series, {}),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        tally: dict[tuple[str, ...], int] = {
            (namespace, kind, reason): count
            for kind, counted in self._of_kinds.items()
            for (namespace, reason), count in dict(counted).items()
        }
        return (_family(self._series, tally),)


def _family(series: Series, tally: Mapping[tuple[str, ...], int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(series.name, series.meaning, labels=series.labels)
    for labels, count in sorted(tally.items()):
        family.add_metric(labels, count)
    return family
