"""What Plans that go on have of their budgets, as gauges, counted at every event of their cache."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from bernstein.observe.series import BUDGET, BUDGETED_PLANS, PLAN_BUDGET, PLAN_SPEND, Series

Object = Mapping[str, Any]

MOST = Decimal("0.8")
"""Of a budget: from here on it counts as nearly spent."""
_ABSURD = Decimal(10) ** 12
MAX_PLANS = 200
"""So many Plans have series of their own."""


@dataclass(frozen=True, slots=True)
class Purse:
    """What one Plan that goes on may spend, and has spent, in US dollars."""

    namespace: str
    project: str
    plan: str
    spent: Decimal
    budget: Decimal | None

    @property
    def band(self) -> str:
        assert self.budget is not None
        if self.spent >= self.budget:
            return "all"
        return "most" if self.spent >= self.budget * MOST else "less"


class Budgets:
    """The purses of Plans that have not ended, by uid. `changed` is a handler of an informer;
    scrapes run in a thread of their own, and read a copy."""

    def __init__(self) -> None:
        self.purses: dict[str, Purse] = {}

    def changed(self, old: Object | None, new: Object | None) -> None:
        """(None, new): added. (old, new): modified. (last, None): deleted."""
        for obj in (old, new):
            if obj is not None:
                self.purses.pop(obj["metadata"]["uid"], None)
        if new is not None and not (new.get("status") or {}).get("endedAt"):
            self.purses[new["metadata"]["uid"]] = _purse(new)


def _purse(plan: Object) -> Purse:
    meta, spec, status = plan["metadata"], plan.get("spec") or {}, plan.get("status") or {}
    return Purse(
        meta.get("namespace", ""),
        status.get("project") or "",
        meta["name"],
        _amount(status.get("spendUsd")) or Decimal(0),
        _amount(spec.get("budget")),
    )


def _amount(written: Any) -> Decimal | None:
    """As a person or the operator wrote it; None where it is no sum of money."""
    if not isinstance(written, str | int | float):
        return None
    try:
        amount = Decimal(str(written).strip().removeprefix("$"))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and amount < _ABSURD else None


class Purses(Collector):
    """Budgets by namespace and Project, and those of the Plans that have spent most."""

    def __init__(self, budgets: Budgets) -> None:
        self._budgets = budgets

    def describe(self) -> Iterable[GaugeMetricFamily]:
        return tuple(
            _family(series, {}) for series in (BUDGETED_PLANS, BUDGET, PLAN_SPEND, PLAN_BUDGET)
        )

    def collect(self) -> Iterable[GaugeMetricFamily]:
        purses = list(self._budgets.purses.copy().values())
        plans: Tally[tuple[str, ...]] = Tally()
        dollars: dict[tuple[str, ...], Decimal] = {}
        for purse in purses:
            if purse.budget is None:
                continue
            whose = purse.namespace, purse.project
            for band in ("less", "most", "all"):
                plans[*whose, band] += band == purse.band
            left = max(purse.budget - purse.spent, Decimal(0))
            for amount, value in (("spent", purse.spent), ("left", left)):
                dollars[*whose, amount] = dollars.get((*whose, amount), Decimal(0)) + value
        shown = sorted(purses, key=lambda p: (-p.spent, p.namespace, p.plan))[:MAX_PLANS]
        return (
            _family(BUDGETED_PLANS, plans),
            _family(BUDGET, dollars),
            _family(PLAN_SPEND, {_of(p): p.spent for p in shown}),
            _family(PLAN_BUDGET, {_of(p): p.budget for p in shown if p.budget is not None}),
        )


def _of(purse: Purse) -> tuple[str, str, str]:
    return purse.namespace, purse.project, purse.plan


def _family(series: Series, values: Mapping[tuple[str, ...], Decimal | int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(series.name, series.meaning, labels=series.labels)
    for labels, value in sorted(values.items()):
        family.add_metric(labels, float(value))
    return family
