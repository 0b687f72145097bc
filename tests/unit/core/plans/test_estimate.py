"""Minutes and money before anything has run."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bernstein.api.plan import PlanSpec
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.estimate import beyond_budget, critical_steps, estimate
from tests.unit.core.plans.plan_files import RATE_LIMIT


def spec_of(*stages: dict[str, Any]) -> PlanSpec:
    return PlanSpec.model_validate(plan_file.plan_object({"name": "p", "stages": stages})["spec"])


def stage(name: str, *minutes: int, **fields: Any) -> dict[str, Any]:
    steps = [{"title": f"{name} {n}", "estimated_minutes": m} for n, m in enumerate(minutes)]
    return {"name": name, "steps": steps} | fields


def cost_of(**step: Any) -> Decimal:
    found = estimate(spec_of({"name": "s", "steps": [{"title": "x"} | step]}))
    assert found.cost_usd is not None
    return Decimal(found.cost_usd)


def test_steps_of_a_stage_run_side_by_side_and_stages_one_after_the_other() -> None:
    assert estimate(spec_of(stage("a", 10, 30), stage("b", 5))).minutes == 35


def test_the_longest_chain_of_stages_counts() -> None:
    spec = spec_of(
        stage("a", 10),
        stage("b", 50, depends_on=[]),
        stage("c", 20, depends_on=["a"]),
        stage("d", 1, depends_on=["b", "c"]),
    )

    assert estimate(spec).minutes == 51


def test_a_step_also_waits_for_all_of_a_repository() -> None:
    show = stage("show", 7, 20, repo="web", depends_on=["draw"])
    show["steps"][0]["depends_on_repo"] = "api"
    first = (stage("serve", 10, 40, repo="api"), stage("draw", 15, repo="web", depends_on=[]))
    data = {"name": "p", "repos": [{"path": "api"}, {"path": "web"}], "stages": [*first, show]}
    spec = PlanSpec.model_validate(plan_file.plan_object(data)["spec"])

    assert critical_steps(spec) == ((0, 1), (2, 0))
    assert estimate(spec).minutes == 47


def test_the_documented_example_fits_its_budget() -> None:
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)

    found = estimate(PlanSpec.model_validate(plan_file.plan_object(data)["spec"]))

    assert found.minutes == 90
    assert found.cost_usd is not None
    assert Decimal(1) < Decimal(found.cost_usd) < Decimal(5)


def test_more_difficult_and_larger_steps_cost_more() -> None:
    assert cost_of(complexity="low") < cost_of() < cost_of(complexity="high")
    assert cost_of(scope="small") < cost_of() < cost_of(scope="large")
    assert cost_of(model="haiku") < cost_of(model="sonnet") < cost_of(model="opus")


def test_a_model_without_a_price_gives_no_sum_but_says_why() -> None:
    found = estimate(spec_of({"name": "s", "steps": [{"title": "x", "model": "mystery-1"}]}))

    assert found.cost_usd is None
    assert found.basis == "critical path; no price is known for mystery-1"
    assert found.minutes == 30


@pytest.mark.parametrize(
    ("budget", "model", "told"),
    [
        ("0.54", "sonnet", "budget: the estimate $0.55 exceeds the budget $0.54"),
        ("0", "sonnet", "budget: the estimate $0.55 exceeds the budget $0.00"),
        ("0.5499", "sonnet", "budget: the estimate $0.55 exceeds the budget $0.5499"),
        ("0.55", "sonnet", None),
        ("0.01", "mystery-1", None),
        ("0", "mystery-1", "budget: with a budget of $0.00 no session starts"),
        (None, "sonnet", None),
    ],
)
def test_a_budget_that_cannot_do_is_told(budget: str | None, model: str, told: str | None) -> None:
    spec = spec_of({"name": "s", "steps": [{"title": "x", "model": model}]})
    spec = spec.model_copy(update={"budget": budget})

    found = beyond_budget(spec, estimate(spec))

    assert [problem.message for problem in found] == ([] if told is None else [told])
