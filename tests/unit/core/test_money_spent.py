"""Tokens to money, and what Tasks and Plans have spent."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import PlanStatus, PlanTask
from bernstein.api.project import Price
from bernstein.api.session import Report
from bernstein.api.states import SessionState, TaskState
from bernstein.core import pricing, spend
from tests.unit.core import objects
from tests.unit.core.objects import project, session, with_session

MINE = Price(model="claude-opus", input="1", output="2")
TOKENS = UsageCounts(input=1_000_000, output=100_000, cache_read=10_000, cache_write=1000)


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("claude-opus", "claude-opus"),
        ("claude-opus-4-5", "claude-opus-4-5"),
        ("claude-opus-4-5-20270101", "claude-opus-4-5"),
        ("claude-opus-4-1", "claude-opus"),
        ("sonnet", "sonnet"),
        ("mystery", None),
        ("", None),
    ],
)
def test_the_exact_name_counts_then_the_longest_prefix(model: str, found: str | None) -> None:
    price = pricing.price_of(model)

    assert (price and price.model) == found


def test_the_projects_price_comes_before_a_longer_built_in_one() -> None:
    assert pricing.price_of("claude-opus-4-5", [MINE]) == MINE


def test_each_kind_of_token_has_its_price() -> None:
    price = pricing.price_of("sonnet")
    assert price is not None

    assert pricing.cost(TOKENS, price) == Decimal("4.50675")


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "0"), ("0.00001", "0"), ("1.50", "1.5"), ("0.12345", "0.1234"), ("100", "100")],
)
def test_money_is_a_plain_decimal_string(amount: str, text: str) -> None:
    assert pricing.money(Decimal(amount)) == text


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, pricing.MAX_TOKENS), min_size=8, max_size=8))
def test_more_tokens_never_cost_less(counts: list[int]) -> None:
    price = pricing.price_of("sonnet")
    assert price is not None
    names = ("input", "output", "cache_read", "cache_write")
    one = UsageCounts(**dict(zip(names, counts[:4], strict=True)))
    other = UsageCounts(**dict(zip(names, counts[4:], strict=True)))
    both = pricing.add(one, other)

    assert pricing.cost(both, price) == pricing.cost(one, price) + pricing.cost(other, price)
    assert float(pricing.money(pricing.cost(both, price))) >= 0


def test_a_running_task_has_spent_what_its_session_reports() -> None:
    busy = objects.task(status=with_session(TaskState.IN_PROGRESS, spend_usd="1"))
    reported = session(
        state=SessionState.WORKING, report=Report(usage=TOKENS).model_dump(), usage=None
    )

    assert spend.live_spend(busy, reported, project()) == Decimal("5.50675")
    assert spend.live_spend(busy, None, project()) == 1
    cheap = project(budget={"prices": [{"model": "sonnet", "input": "1", "output": "1"}]})
    assert spend.live_spend(busy, reported, cheap) == Decimal("2.1")


@pytest.mark.parametrize("state", [TaskState.DONE, TaskState.OPEN, TaskState.CANCELLED])
def test_a_session_that_was_settled_counts_no_second_time(state: TaskState) -> None:
    settled = objects.task(status=with_session(state, spend_usd="4.5"))
    over = session(state=SessionState.DEAD, usage=TOKENS.model_dump())

    assert spend.live_spend(settled, over, project()) == Decimal("4.5")


def test_a_plan_remembers_what_deleted_tasks_had_spent() -> None:
    rows = (
        PlanTask(name="gone", stage="s", spend_usd="2"),
        PlanTask(name="here", stage="s", spend_usd="1"),
    )
    found = objects.plan(status=PlanStatus(tasks=rows))

    assert spend.plan_spend(found, {"here": Decimal("1.5")}) == Decimal("3.5")
