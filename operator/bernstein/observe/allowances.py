"""How many requests forges still let Projects make, as a gauge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.observe.series import FORGE_REMAINING

Object = Mapping[str, Any]


class Allowances:
    """What each Project's status says of it. `changed` is a handler of an informer; scrapes run in
    a thread of their own, and read a copy."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], int] = {}
        """By namespace and Project."""

    def changed(self, old: Object | None, new: Object | None) -> None:
        """(None, new): added. (old, new): modified. (last, None): deleted."""
        if (gone := old or new) is not None:
            self.values.pop(_key(gone), None)
        watch = ((new or {}).get("status") or {}).get("watch") or {}
        if new is not None and (count := watch.get("remaining")) is not None:
            self.values[_key(new)] = count


def _key(obj: Object) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


class Remaining(Collector):
    """How many requests are left to each Project whose forge tells."""

    def __init__(self, allowances: Allowances) -> None:
        self._allowances = allowances

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return (_family({}),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        return (_family(dict(self._allowances.values)),)


def _family(values: Mapping[tuple[str, str], int]) -> GaugeMetricFamily:
    series = FORGE_REMAINING
    family = GaugeMetricFamily(series.name, series.meaning, labels=series.labels)
    for labels, count in sorted(values.items()):
        family.add_metric(labels, count)
    return family
