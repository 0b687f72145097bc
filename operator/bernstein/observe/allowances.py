"""How many requests forges still let Projects make, and refs that wait to be deleted, as gauges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.observe.series import FORGE_REMAINING, REFS_WAITING, Series

Object = Mapping[str, Any]


class Allowances:
    """What each Project's status says of it. `changed` is a handler of an informer; scrapes run in
    a thread of their own, and read a copy."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], int] = {}
        """Requests that are left, by namespace and Project: of several repositories the fewest."""
        self.refs: dict[tuple[str, str], int] = {}
        """Refs that wait, likewise."""

    def changed(self, old: Object | None, new: Object | None) -> None:
        """(None, new): added. (old, new): modified. (last, None): deleted."""
        if (gone := old or new) is not None:
            self.values.pop(_key(gone), None)
            self.refs.pop(_key(gone), None)
        if new is None:
            return
        status = new.get("status") or {}
        watches = [status.get("watch") or {}, *(status.get("watches") or ())]
        left = [each["remaining"] for each in watches if each.get("remaining") is not None]
        if left:
            self.values[_key(new)] = min(left)
        known = status.get("refs") or ()
        if waiting := sum(len(row.get("waiting") or ()) + row.get("unwritten", 0) for row in known):
            self.refs[_key(new)] = waiting


def _key(obj: Object) -> tuple[str, str]:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


class Remaining(Collector):
    """How many requests are left to each Project whose forge tells, and how many refs wait."""

    def __init__(self, allowances: Allowances) -> None:
        self._allowances = allowances

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return _family(FORGE_REMAINING, {}), _family(REFS_WAITING, {})

    def collect(self) -> Iterable[GaugeMetricFamily]:
        known = self._allowances
        return (
            _family(FORGE_REMAINING, dict(known.values)),
            _family(REFS_WAITING, dict(known.refs)),
        )


def _family(series: Series, values: Mapping[tuple[str, str], int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(series.name, series.meaning, labels=series.labels)
    for labels, count in sorted(values.items()):
        family.add_metric(labels, count)
    return family
