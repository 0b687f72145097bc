"""How many agents at work have not been heard of for a while, as a gauge."""

from __future__ import annotations

import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.api.states import SessionState
from bernstein.observe.series import SESSIONS_SILENT

Object = Mapping[str, Any]

SILENT_SECONDS = 60.0
"""Recorders send a heartbeat every 15 s."""
_AT_WORK = (SessionState.WORKING, SessionState.IDLE)


class Heard:
    """When each session at work was heard of, by uid. `changed` is a handler of an informer;
    scrapes run in a thread of their own, and read a copy."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.times: dict[str, tuple[str, float]] = {}
        """Namespace, and seconds since 1970."""

    def changed(self, old: Object | None, new: Object | None) -> None:
        """(None, new): added. (old, new): modified. (last, None): deleted."""
        for obj in (old, new):
            if obj is not None:
                self.times.pop(obj["metadata"]["uid"], None)
        status = (new.get("status") or {}) if new is not None else {}
        if new is None or status.get("state") not in _AT_WORK:
            return
        heard = (status.get("report") or {}).get("heartbeatTime") or status.get("startedAt")
        at = _seconds(heard)
        if at is not None:
            meta = new["metadata"]
            self.times[meta["uid"]] = meta.get("namespace", ""), at


def _seconds(written: Any) -> float | None:
    try:
        return datetime.fromisoformat(written).timestamp() if written else None
    except (TypeError, ValueError):
        return None


class Silent(Collector):
    """By namespace; one in which agents work has a 0, too."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return (self._family({}),)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        now, silent = self._heard.now(), Tally[str]()
        for namespace, at in self._heard.times.copy().values():
            silent[namespace] += now - at > SILENT_SECONDS
        return (self._family(silent),)

    @staticmethod
    def _family(silent: Mapping[str, int]) -> GaugeMetricFamily:
        series = SESSIONS_SILENT
        family = GaugeMetricFamily(series.name, series.meaning, labels=series.labels)
        for namespace, count in sorted(silent.items()):
            family.add_metric((namespace,), count)
        return family
