"""Gauges of how many objects exist, counted in the caches at every scrape."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.api.meta import ConditionType
from bernstein.observe.registry import one_of, word
from bernstein.observe.series import STALLED, Series
from bernstein.observe.vocabulary import REASONS

ReadObjects = Callable[[], Iterable[Mapping[str, Any]]]
"""Returns the raw objects of one kind that an informer's cache holds; called at every scrape."""

NEW = "New"
"""The value for an object without status, which no controller has looked at yet."""


class Population(Collector):
    """Counts objects by namespace and by one field of their status.

    A namespace with objects has a gauge for every value in `known`, also where no object has it, so
    that a graph falls to zero instead of ending.
    """

    def __init__(
        self, series: Series, objects: ReadObjects, *, field: str, known: Iterable[str] = ()
    ) -> None:
        self._series = series
        self._objects = objects
        self._field = field
        self._known = tuple(known)

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return (_family(self._series, {}),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        tally: Tally[tuple[str, ...]] = Tally()
        for obj in self._objects():
            value = (obj.get("status") or {}).get(self._field) or NEW
            tally[(obj["metadata"].get("namespace", ""), word(value))] += 1
        for namespace in {labels[0] for labels in tally}:
            for value in self._known:
                tally.setdefault((namespace, value), 0)
        return (_family(self._series, tally),)


class Stalled(Collector):
    """Counts objects that need a person, by namespace, kind and reason.

    What that is, the core decides and writes into the condition; nothing else is read here.
    """

    def __init__(self, objects: Mapping[str, ReadObjects]) -> None:
        """`objects` by kind."""
        self._objects = objects

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return (_family(STALLED, {}),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        tally: Tally[tuple[str, ...]] = Tally()
        for kind, objects in self._objects.items():
            for obj in objects():
                reason = _stalled_for(obj)
                if reason is not None:
                    tally[obj["metadata"].get("namespace", ""), kind, reason] += 1
        return (_family(STALLED, tally),)


def _stalled_for(obj: Mapping[str, Any]) -> str | None:
    for condition in (obj.get("status") or {}).get("conditions", ()):
        if condition["type"] == ConditionType.STALLED and condition["status"] == "True":
            return one_of(condition["reason"], REASONS)
    return None


def _family(series: Series, tally: Mapping[tuple[str, ...], int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(series.name, series.meaning, labels=series.labels)
    for labels, count in sorted(tally.items()):
        family.add_metric(labels, count)
    return family
