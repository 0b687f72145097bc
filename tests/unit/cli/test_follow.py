"""When watching a Plan is over."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.cli.follow import is_over, succeeded
from tests.unit.cli.scenes import condition, plan

STALLED = condition("Stalled", "True", "BudgetExceeded")
RESTING = {"total": 7, "closed": 2, "open": 5}


@pytest.mark.parametrize(
    ("status", "over"),
    [
        ({}, False),
        ({"conditions": [condition("Succeeded", "True", "Delivered")]}, True),
        ({"conditions": [condition("Succeeded", "False", "Cancelled")]}, True),
        ({"conditions": [STALLED], "counts": RESTING}, True),
        ({"conditions": [STALLED], "counts": RESTING | {"running": 1}}, False),
        ({"conditions": [STALLED], "counts": RESTING | {"verifying": 1}}, False),
        ({"conditions": [STALLED], "counts": RESTING, "observedGeneration": 0}, False),
        ({"conditions": [condition("Suspended", "True", "BySpec")], "counts": RESTING}, False),
    ],
)
def test_a_plan_is_watched_until_it_ended_or_waits_for_a_person(
    status: dict[str, Any], over: bool
) -> None:
    assert is_over(plan(**status)) is over


def test_only_the_succeeded_condition_is_success() -> None:
    assert succeeded(plan(conditions=[condition("Succeeded", "True", "Delivered")]))
    assert not succeeded(plan(conditions=[condition("Succeeded", "False", "Cancelled")]))
    assert not succeeded(plan(conditions=[STALLED]))
