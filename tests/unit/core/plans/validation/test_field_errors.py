"""How problems of a plan are told where there is little room."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.plans.field_errors import FieldError, did_you_mean, invalid_choice, listed

TEXTS = st.lists(st.text("ab", min_size=1, max_size=30), max_size=20)


def test_problems_that_do_not_fit_are_counted() -> None:
    found = [FieldError("a", "first"), FieldError("b", "second"), FieldError("c", "third")]

    assert listed(found, 100) == "first\nsecond\nthird"
    assert listed(found, 13) == "first\nsecond\n… and 1 more"
    assert listed(found, 3) == "… and 3 more"
    assert listed([], 10) == ""


@given(TEXTS, st.integers(0, 200))
def test_no_problem_is_cut_or_forgotten(texts: list[str], limit: int) -> None:
    *shown, last = listed([FieldError("", text) for text in texts], limit).split("\n")

    if last.startswith("… and "):
        assert sum(map(len, shown)) <= limit
        assert len(shown) + int(last.split()[2]) == len(texts)
    else:
        assert [*shown, *([last] if last else [])] == texts


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("node-7", "node-7"),
        ("nodee-7", "node-7"),
        ("nde-7", "node-7"),
        ("nodf-7", "node-7"),
        ("onde-7", "node-7"),
        ("nothing of it", None),
        ("", None),
    ],
)
def test_in_a_long_list_a_name_is_found_that_is_one_character_away(
    word: str, near: str | None
) -> None:
    names = ["node-7", *(f"{'x' * 40}{n}" for n in range(50))]

    assert did_you_mean(word, names) == (f", did you mean '{near}'?" if near else "")


def test_names_that_are_all_alike_take_no_time() -> None:
    names = [f"{'ab' * 28}{n:03}" for n in range(100)]
    started = time.process_time()

    for number in range(2000):
        did_you_mean(f"{'ab' * 28}q{number:05}", names)

    assert time.process_time() - started < 2


def test_of_a_long_list_the_beginning_is_told() -> None:
    message = invalid_choice("x", [f"role-{n}" for n in range(1000)])

    assert message.endswith("role-39, … 960 more]")
