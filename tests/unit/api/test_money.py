"""Sums of money as people write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bernstein.api import money
from bernstein.api.plan import PlanSpec


@pytest.mark.parametrize(
    ("written", "parsed"),
    [
        ("$5", "5"),
        ("5.00", "5"),
        (" $ 12.50 ", "12.5"),
        (5.0, "5"),
        (0.1, "0.1"),
        (7, "7"),
        (1e-6, "0.000001"),
        (0, "0"),
        ("100", "100"),
        (999_999_999, "999999999"),
    ],
)
def test_what_is_money(written: str | float, parsed: str) -> None:
    assert money.parse(written) == parsed


@pytest.mark.parametrize(
    "written",
    ["", "$", "-1", "5 EUR", "1,5", "1e3", "٣", "1.2345678", -1, 1e9, 1e-7, True, float("inf"),
     float("nan")],
)  # fmt: skip
def test_what_is_not(written: str | float) -> None:
    assert money.parse(written) is None


@given(st.integers(0, 999_999_999), st.integers(0, 999_999))
def test_every_sum_is_read_back_exactly(dollars: int, millionths: int) -> None:
    amount = Decimal(dollars) + Decimal(millionths) / 1_000_000

    parsed = money.parse(f"${dollars}.{millionths:06}")

    assert parsed is not None
    assert Decimal(parsed) == amount


def test_a_number_too_long_to_print_is_no_sum_of_money() -> None:
    assert money.parse(10**5000) is None


@pytest.mark.parametrize("written", [5, "5", "$5", "5.00"])
def test_a_budget_of_5_or_of_5_dollars_in_quotes_is_read_as_the_same(written: str | int) -> None:
    fields = {"name": "n", "stages": [{"name": "s", "steps": [{"title": "t"}]}]}

    assert PlanSpec.model_validate(fields | {"budget": written}).budget == "5"


@pytest.mark.parametrize("written", ["5 EUR", "-1", "1e3", True, -5, ""])
def test_a_budget_that_is_no_money_is_refused(written: str | int) -> None:
    fields = {"name": "n", "stages": [{"name": "s", "steps": [{"title": "t"}]}]}

    with pytest.raises(ValidationError):
        PlanSpec.model_validate(fields | {"budget": written})
