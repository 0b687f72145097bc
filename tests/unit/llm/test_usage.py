"""Tokens are what the provider says, as far as that is possible."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.pod import Usage
from bernstein.llm.usage import counted, likely, most

BOUND = most(1000, 200)
NOTHING_BUT = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([])
)


def test_what_is_possible_counts_as_it_is() -> None:
    assert counted(BOUND, 100, 20, 60, 30) == (Usage(10, 20, 60, 30), True)
    assert counted(BOUND, 0, 0) == (Usage(), True)


@pytest.mark.parametrize("nothing", [None, -1, 1.5, float("nan"), "7", True, [7]])
def test_without_a_count_the_most_counts(nothing: Any) -> None:
    assert counted(BOUND, nothing, 20) == (BOUND, False)
    assert counted(BOUND, 100, nothing) == (BOUND, False)


def test_more_than_is_possible_counts_as_the_most() -> None:
    assert counted(BOUND, 10**12, 20) == (Usage(input=BOUND.input, output=20), False)
    assert counted(BOUND, 100, 10**12) == (Usage(input=100, output=200), False)
    # More from the cache than was read at all: it counts as dear as it can be.
    assert counted(BOUND, 100, 20, 101) == (Usage(input=100, output=20), False)


@given(NOTHING_BUT, NOTHING_BUT, NOTHING_BUT, NOTHING_BUT)
def test_nothing_that_is_said_leaves_the_bounds(i: Any, o: Any, r: Any, w: Any) -> None:
    used, _ = counted(BOUND, i, o, r, w)

    assert 0 <= used.output <= BOUND.output
    assert 0 <= used.input + used.cache_read + used.cache_write <= BOUND.input
    assert min(used.input, used.cache_read, used.cache_write) >= 0


@given(st.integers(0, 1 << 20), st.integers(1, 4096))
def test_likely_is_at_least_a_token_for_two_bytes_and_never_more_than_can_be(
    sent: int, answer: int
) -> None:
    found, bound = likely(sent, answer), most(sent, answer)

    assert sent / 2 <= found.input <= bound.input
    assert found.output == bound.output == answer
