"""What a piece of work may use of models is never exceeded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.pod import Usage
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.allowance import Allowance, Ceiling, Purse, Rate
from bernstein.llm.errors import ModelError


async def test_what_is_set_aside_counts_until_it_is_settled() -> None:
    allowance = Allowance(Ceiling(requests=9, input_tokens=100, output_tokens=100))
    bound = Usage(input=60, output=10)
    await allowance.set_aside(bound, "m")
    second = asyncio.create_task(allowance.set_aside(bound, "m"))
    await asyncio.sleep(0)
    assert not second.done(), "it fits once the other one has used less"

    allowance.settle("m", bound, Usage(input=30, cache_read=5, output=1), exact=True)
    await second
    allowance.settle("m", bound, Usage(input=12), exact=False)
    assert allowance.used == {"m": Usage(input=42, cache_read=5, output=1)}
    assert (allowance.requests, allowance.exact) == (2, False)

    with pytest.raises(ModelError) as failed:
        await allowance.set_aside(bound, "m")
    assert failed.value.reason is ModelReason.MODEL_BUDGET_SPENT
    assert "107 tokens of questions" in failed.value.message


async def test_what_the_others_leave_too_little_for_is_refused_then() -> None:
    allowance = Allowance(Ceiling(input_tokens=100))
    bound = Usage(input=60)
    await allowance.set_aside(bound, "m")
    second = asyncio.create_task(allowance.set_aside(bound, "m"))
    await asyncio.sleep(0)

    allowance.settle("m", bound, bound, exact=True)

    with pytest.raises(ModelError, match="120 tokens of questions"):
        await second


async def test_what_would_fit_beside_nobody_waits_for_nobody() -> None:
    allowance = Allowance(Ceiling(input_tokens=100))
    await allowance.set_aside(Usage(input=1))

    with pytest.raises(ModelError, match="101 tokens of questions"):
        await allowance.set_aside(Usage(input=101))


@pytest.mark.parametrize(
    ("ceiling", "what"),
    [
        (Ceiling(requests=1), "requests"),
        (Ceiling(input_tokens=19), "tokens of questions"),
        (Ceiling(output_tokens=7), "tokens of answers"),
    ],
)
async def test_each_ceiling_holds(ceiling: Ceiling, what: str) -> None:
    allowance = Allowance(ceiling)
    bound = Usage(input=10, output=4)
    await allowance.set_aside(bound, "a")
    allowance.settle("a", bound, bound, exact=True)

    with pytest.raises(ModelError, match=what):
        await allowance.set_aside(bound)
    assert allowance.requests == 1


async def test_of_whom_nothing_was_used_nothing_is_told() -> None:
    allowance = Allowance(Ceiling())
    await allowance.set_aside(Usage(input=1), "m")
    allowance.settle("m", Usage(input=1), Usage(), exact=True)

    assert allowance.used == {}


AMOUNTS = st.builds(Usage, input=st.integers(0, 40), output=st.integers(0, 9))


@given(st.lists(st.tuples(st.sampled_from("ab"), AMOUNTS, AMOUNTS)))
async def test_no_order_of_requests_gets_over_a_ceiling(
    calls: list[tuple[str, Usage, Usage]],
) -> None:
    allowance = Allowance(Ceiling(requests=5, input_tokens=90, output_tokens=20))
    for model, bound, said in calls:
        try:
            await allowance.set_aside(bound, model)
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
LIKELY = Usage(input=5_000, output=1_000)
"""$0.03 of it."""
USED = Usage(input=2_500, output=100)
"""$0.009 of it."""


def purse(dollars: str) -> Allowance:
    return Allowance(Ceiling(), Purse(Decimal(dollars), RATES))


def cost(usage: Usage) -> Decimal:
    return Purse(Decimal(0), RATES).cost("m", usage)


async def ask(allowance: Allowance, most: Usage, likely: Usage, used: Usage) -> bool:
    """Whether one was asked, which is under way for a while, and used so much."""
    try:
        await allowance.set_aside(most, "m", likely)
    except ModelError:
        return False
    await asyncio.sleep(0)
    allowance.settle("m", most, used, exact=True)
    return True


async def test_what_will_likely_cost_more_than_is_left_is_not_asked() -> None:
    allowance = purse("0.0299")

    with pytest.raises(ModelError, match=r"\$0.0300, and \$0.0299 are left") as failed:
        await allowance.set_aside(MOST, "m", LIKELY)

    assert failed.value.reason is ModelReason.BUDGET_EXCEEDED
    assert allowance.requests == 0


async def test_without_an_estimate_the_most_that_it_can_cost_counts() -> None:
    with pytest.raises(ModelError, match=r"\$0.0450, and \$0.0449 are left"):
        await purse("0.0449").set_aside(MOST, "m")


async def test_what_will_likely_fit_is_asked_alone_and_the_others_wait_for_it() -> None:
    allowance = purse("0.044")
    await allowance.set_aside(MOST, "m", LIKELY)
    second = asyncio.create_task(allowance.set_aside(MOST, "m", LIKELY))
    await asyncio.sleep(0)
    assert not second.done()

    allowance.settle("m", MOST, USED, exact=True)
    await second

    assert allowance.requests == 2


async def test_questions_beside_each_other_are_all_answered_as_long_as_money_is_left() -> None:
    """One by one, since two at a time might cost more. After three there is as much left as a
    fourth will likely cost."""
    allowance = purse("0.057")

    asked = await asyncio.gather(*(ask(allowance, MOST, LIKELY, USED) for _ in range(5)))

    assert asked == [True, True, True, True, False]


async def test_where_there_is_enough_nobody_waits() -> None:
    allowance = purse("0.09")

    await allowance.set_aside(MOST, "m", LIKELY)
    await allowance.set_aside(MOST, "m", LIKELY)


async def test_what_was_read_from_a_cache_or_written_to_one_costs_no_less() -> None:
    allowance = purse("0.05")
    await allowance.set_aside(MOST, "m")
    allowance.settle("m", MOST, Usage(cache_read=5_000, cache_write=5_000), exact=True)

    with pytest.raises(ModelError, match=r"\$0.0200 are left"):
        await allowance.set_aside(MOST, "m")


@pytest.mark.parametrize("dollars", ["0", "0.03"])
async def test_a_model_whose_price_nobody_knows_is_asked(dollars: str) -> None:
    allowance = purse(dollars)
    await ask(allowance, MOST, LIKELY, MOST)  # which costs more than was thought

    await allowance.set_aside(MOST, "other")


CALLS = st.lists(st.tuples(AMOUNTS, *[st.floats(0, 1)] * 3), max_size=20)


@given(CALLS)
async def test_no_more_is_spent_than_by_what_one_question_costs_more_than_was_thought(
    calls: Sequence[tuple[Usage, float, float, float]],
) -> None:
    allowance, budget = purse("0.0003"), Decimal("0.0003")
    made = []
    for most, likely, read, wrote in calls:
        thought = Usage(input=int(most.input * likely), output=most.output)
        used = Usage(input=int(most.input * read), output=int(most.output * wrote))
        made.append((most, thought, used))

    await asyncio.gather(*(ask(allowance, *call) for call in made))

    more = max((cost(most) - cost(thought) for most, thought, _ in made), default=Decimal(0))
    assert cost(allowance.used.get("m", Usage())) <= budget + more
