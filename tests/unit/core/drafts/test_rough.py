"""What a draft may cost: what its steps would, as far as they can be read."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import yaml

from bernstein.core.drafts.rough import cost
from bernstein.core.plans.estimate import estimate
from tests.unit.core.plans.plan_files import RATE_LIMIT, spec_of


def draft(*steps: Any) -> dict[str, Any]:
    return {"stages": [{"name": "a", "steps": [*steps]}]}


def dollars(*steps: Any) -> Decimal:
    found = cost(draft(*steps))
    assert found is not None
    return Decimal(found)


def test_the_steps_of_a_valid_plan_cost_what_its_estimate_says() -> None:
    data = yaml.safe_load(RATE_LIMIT)

    assert cost(data) == estimate(spec_of(data)).cost_usd


def test_it_is_the_sum_of_its_steps_by_complexity() -> None:
    low, high = ({"title": "x", "complexity": word, "model": "haiku"} for word in ("low", "high"))

    assert dollars(low) < dollars(high)
    assert abs(dollars(low, high, high) - dollars(low) - 2 * dollars(high)) <= Decimal("0.03")


def test_what_cannot_be_read_counts_with_its_default() -> None:
    odd = {"title": 3, "complexity": ["high"], "role": {"a": 1}, "scope": "huge", "model": None}

    assert dollars(odd, "no step", None) == dollars({"title": "x"})


def test_thousands_of_steps_are_summed_as_far_as_a_plan_can_hold_them() -> None:
    assert dollars(*[{}] * 10_000) == dollars(*[{}] * 2000)


def test_without_a_step_there_is_nothing_to_sum() -> None:
    assert cost(draft()) is None
    assert cost({"stages": "none"}) is None
