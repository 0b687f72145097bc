"""What Plans have of their budgets, as gauges."""

from typing import Any

from bernstein.observe.budgets import MAX_PLANS, Budgets, Purses
from bernstein.observe.registry import new_registry


def plan(
    name: str, budget: Any, spent: Any, *, namespace: str = "team", **status: Any
) -> dict[str, Any]:
    return {
        "metadata": {"namespace": namespace, "name": name, "uid": f"uid-{namespace}-{name}"},
        "spec": {"budget": budget} if budget is not None else {},
        "status": {"project": "shop", "spendUsd": spent, **status},
    }


class Shown:
    def __init__(self, *plans: dict[str, Any]) -> None:
        self.budgets = Budgets()
        self._registry = new_registry(process=False)
        self._registry.register(Purses(self.budgets))
        for each in plans:
            self.budgets.changed(None, each)

    def value(self, name: str, **labels: str) -> float | None:
        of = {"namespace": "team", "project": "shop", **labels}
        return self._registry.get_sample_value(f"bernstein_{name}", of)

    def count(self, name: str) -> int:
        return sum(len(f.samples) for f in self._registry.collect() if f.name == name)


def test_plans_are_counted_by_what_they_have_spent_of_their_budget() -> None:
    shown = Shown(
        plan("a", "10", "7.99"),
        plan("b", 10, "8"),
        plan("c", "$10", "9.999999"),
        plan("d", "10", "10"),
        plan("e", "0", "0"),  # lets no session start
        plan("f", None, "500"),
    )
    bands = {band: shown.value("budgeted_plans", spent=band) for band in ("less", "most", "all")}
    assert bands == {"less": 1, "most": 2, "all": 2}


def test_what_is_spent_and_left_is_added_up_for_each_project() -> None:
    shown = Shown(plan("a", "10", "2.5"), plan("b", "1", "4"), plan("c", None, "500"))
    assert shown.value("budget_usd", amount="spent") == 6.5
    assert shown.value("budget_usd", amount="left") == 7.5  # what b overspent, a may still spend


def test_a_plan_counts_until_it_has_ended() -> None:
    before, after = plan("a", "10", "9"), plan("a", "10", "9", endedAt="2026-01-01T00:00:00Z")
    shown = Shown(before)
    assert shown.value("plan_spend_usd", plan="a") == 9
    assert shown.value("plan_budget_usd", plan="a") == 10

    shown.budgets.changed(before, after)

    assert shown.value("plan_spend_usd", plan="a") is None
    assert shown.value("budgeted_plans", spent="most") is None


def test_a_raised_budget_and_a_deletion_are_seen() -> None:
    before, raised = plan("a", "10", "10"), plan("a", "20", "10")
    shown = Shown(before)
    shown.budgets.changed(before, raised)
    assert shown.value("budgeted_plans", spent="all") == 0
    assert shown.value("budgeted_plans", spent="less") == 1

    shown.budgets.changed(raised, None)
    assert shown.count("bernstein_plan_spend_usd") == 0


def test_only_so_many_plans_have_series_of_their_own() -> None:
    shown = Shown(*(plan(f"p{n}", "10", str(n / 100)) for n in range(MAX_PLANS + 50)))
    assert shown.count("bernstein_plan_spend_usd") == MAX_PLANS
    assert shown.value("plan_spend_usd", plan="p0") is None
    assert shown.value("plan_spend_usd", plan=f"p{MAX_PLANS + 49}") == 2.49
    assert shown.value("budgeted_plans", spent="less") == MAX_PLANS + 50


def test_what_is_no_money_counts_as_none() -> None:
    shown = Shown(plan("a", "lots", None), plan("b", [1], "NaN"), plan("c", None, {}))
    new = {"metadata": {"namespace": "team", "name": "d", "uid": "d"}, "spec": {"budget": "5"}}
    shown.budgets.changed(None, new)
    assert shown.value("budgeted_plans", project="", spent="less") == 1
    assert shown.value("plan_spend_usd", plan="a") == 0
