"""Gauges of how many objects exist, counted in the caches at every scrape."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.observe.registry import word
from bernstein.observe.series import Series

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
        return (self._family(),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        tally: Tally[tuple[str, str]] = Tally()
        for obj in self._objects():
            value = (obj.get("status") or {}).get(self._field) or NEW
            tally[(obj["metadata"].get("namespace", ""), word(value))] += 1
        for namespace in {namespace for namespace, _ in tally}:
            for value in self._known:
                tally.setdefault((namespace, value), 0)
        family = self._family()
        for labels, count in sorted(tally.items()):
            family.add_metric(labels, count)
        return (family,)

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(
            self._series.name, self._series.meaning, labels=self._series.labels
        )
