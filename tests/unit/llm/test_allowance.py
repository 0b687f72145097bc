"""What a piece of work may use of models is never exceeded."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.pod import Usage
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.allowance import Allowance, Ceiling, Purse, Rate
from bernstein.llm.errors import ModelError


def test_what_is_set_aside_counts_until_it_is_settled() -> None:
    allowance = Allowance(Ceiling(requests=9, input_tokens=100, output_tokens=100))
    bound = Usage(input=60, output=10)
    allowance.set_aside(bound)

    with pytest.raises(ModelError) as failed:
        allowance.set_aside(bound)
    assert failed.value.reason is ModelReason.MODEL_BUDGET_SPENT
    assert "120 tokens of questions" in failed.value.message

    allowance.settle("m", bound, Usage(input=30, cache_read=5, output=1), exact=True)
    allowance.set_aside(bound)
    allowance.settle("m", bound, Usage(input=2), exact=False)
    assert allowance.used == {"m": Usage(input=32, cache_read=5, output=1)}
    assert (allowance.requests, allowance.exact) == (2, False)


@pytest.mark.parametrize(
    ("ceiling", "what"),
    [
        (Ceiling(requests=1), "requests"),
        (Ceiling(input_tokens=19), "tokens of questions"),
        (Ceiling(output_tokens=7), "tokens of answers"),
    ],
)
def test_each_ceiling_holds(ceiling: Ceiling, what: str) -> None:
    allowance = Allowance(ceiling)
    bound = Usage(input=10, output=4)
    allowance.set_aside(bound)
    allowance.settle("a", bound, bound, exact=True)

    with pytest.raises(ModelError, match=what):
        allowance.set_aside(bound)
    assert allowance.requests == 1


def test_of_whom_nothing_was_used_nothing_is_told() -> None:
    allowance = Allowance(Ceiling())
    allowance.set_aside(Usage(input=1))
    allowance.settle("m", Usage(input=1), Usage(), exact=True)

    assert allowance.used == {}


AMOUNTS = st.builds(Usage, input=st.integers(0, 40), output=st.integers(0, 9))


@given(st.lists(st.tuples(st.sampled_from("ab"), AMOUNTS, AMOUNTS)))
def test_no_order_of_requests_gets_over_a_ceiling(calls: list[tuple[str, Usage, Usage]]) -> None:
    allowance = Allowance(Ceiling(requests=5, input_tokens=90, output_tokens=20))
    for model, bound, said in calls:
        try:
            allowance.set_aside(bound)
        except ModelError:
            continue
        within = Usage(input=min(said.input, bound.input), output=min(said.output, bound.output))
        allowance.settle(model, bound, within, exact=True)

    used = allowance.used.values()
    assert sum(u.input for u in used) <= 90
    assert sum(u.output for u in used) <= 20
    assert allowance.requests <= 5


# --- money ----------------------------------------------------------------------------------------

RATES = {"m": Rate(input=Decimal(3), output=Decimal(15))}
"""US dollars for a million tokens."""
MOST = Usage(input=10_000, output=1_000)
"""$0.045 of model `m`."""


def purse(dollars: str) -> Allowance:
    return Allowance(Ceiling(), Purse(Decimal(dollars), RATES))


def test_what_may_cost_more_than_is_left_is_not_asked() -> None:
    allowance = purse("0.0449")

    with pytest.raises(ModelError, match=r"\$0.0450, and \$0.0449 are left") as failed:
        allowance.set_aside(MOST, "m")

    assert failed.value.reason is ModelReason.BUDGET_EXCEEDED
    assert allowance.requests == 0


def test_questions_beside_each_other_have_one_purse() -> None:
    allowance = purse("0.08")
    allowance.set_aside(MOST, "m")

    with pytest.raises(ModelError, match=r"\$0.0350 are left"):
        allowance.set_aside(MOST, "m")

    allowance.settle("m", MOST, Usage(input=100, output=10), exact=True)
    allowance.set_aside(MOST, "m")


def test_what_was_read_from_a_cache_or_written_to_one_costs_no_less() -> None:
    allowance = purse("0.05")
    allowance.set_aside(MOST, "m")
    allowance.settle("m", MOST, Usage(cache_read=5_000, cache_write=5_000), exact=True)

    with pytest.raises(ModelError, match=r"\$0.0200 are left"):
        allowance.set_aside(MOST, "m")


def test_a_model_whose_price_nobody_knows_is_asked() -> None:
    purse("0").set_aside(MOST, "other")


@given(st.lists(AMOUNTS, max_size=20), st.data())
def test_no_more_than_the_purse_is_ever_spent(bounds: list[Usage], data: st.DataObject) -> None:
    allowance = Allowance(Ceiling(), Purse(Decimal("0.0003"), RATES))
    for bound in bounds:
        try:
            allowance.set_aside(bound, "m")
        except ModelError:
            continue
        used = Usage(
            input=data.draw(st.integers(0, bound.input)),
            output=data.draw(st.integers(0, bound.output)),
        )
        allowance.settle("m", bound, used, exact=True)

    used = allowance.used.get("m", Usage())
    assert used.input * 3 + used.output * 15 <= 300
