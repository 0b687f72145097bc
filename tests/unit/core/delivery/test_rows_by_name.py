"""Rows are looked up by name, whichever Plans are asked about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plan import PlanTask
from bernstein.core.delivery.ledger import RowsByName

NAMES = st.lists(st.sampled_from("abcde"), max_size=8)


@given(lists=st.lists(NAMES, min_size=1, max_size=6), asked=st.lists(st.integers(0, 5)))
def test_the_first_row_of_a_name_is_found_in_the_rows_that_are_asked_about(
    lists: list[list[str]], asked: list[int]
) -> None:
    plans = [tuple(PlanTask(name=name, stage=str(at)) for at, name in enumerate(n)) for n in lists]
    known = RowsByName(most=2)

    for number in asked:
        rows = plans[number % len(plans)]
        found = known.of(rows)
        for name in "abcdef":
            first = next((row for row in rows if row.name == name), None)
            assert found.get(name) is first


def test_rows_that_are_gone_are_not_taken_for_those_that_have_their_place_in_memory() -> None:
    known = RowsByName(most=1)

    for number in range(200):
        (name,) = known.of((PlanTask(name=f"t{number}", stage="s"),))
        assert name == f"t{number}"
