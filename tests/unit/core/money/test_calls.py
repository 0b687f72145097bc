"""What questions of our own have cost."""

from __future__ import annotations

from decimal import Decimal

from bernstein.api.meta import UsageCounts
from bernstein.api.project import Price
from bernstein.core.money.calls import CallCost, cost_of_calls

MILLION = UsageCounts(input=1_000_000, output=1_000_000)


def test_tokens_cost_what_the_table_says() -> None:
    used = {"gemini-2.5-flash": MILLION, "claude-haiku-4-5": UsageCounts(cache_read=1_000_000)}

    assert cost_of_calls(used) == CallCost(Decimal("2.9"), "Computed")


def test_a_brokers_name_for_a_model_has_the_models_price() -> None:
    assert cost_of_calls({"google/gemini-2.5-flash": MILLION}) == CallCost(
        Decimal("2.8"), "Computed"
    )


def test_a_price_of_the_project_counts_before() -> None:
    whole = Price(model="google/gemini", input="1", output="1")
    plain = Price(model="gemini", input="7", output="7")

    found = cost_of_calls({"google/gemini-2.5-flash": MILLION}, (plain, whole))

    assert found == CallCost(Decimal(2), "Computed")


def test_where_one_model_has_no_price_that_is_said() -> None:
    used = {"gemini-2.5-flash": MILLION, "nobody-knows-it": MILLION}

    assert cost_of_calls(used) == CallCost(Decimal("2.8"), "Unpriced")
    assert cost_of_calls({"nobody-knows-it": UsageCounts()}) is None
