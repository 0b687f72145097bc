"""Measures of two trees, compared."""

from __future__ import annotations

import pytest

from bernstein.checks.findings import shown
from bernstein.checks.measures import Measures, Scale, newly_unread, under_new_names, worse


def nothing(_output: bytes, _root: str) -> Measures:
    return {}


MORE = Scale(nothing, unit=" s", harmless=5)
POINTS = Scale(nothing, unit=" %", less_is_worse=True)


@pytest.mark.parametrize(
    ("before", "after", "is_worse"),
    [
        (10, 12, False),
        (10, 12.1, True),
        (10, 3, False),
        (1, 5, False),
        (1, 5.1, True),
        (0, 6, True),
    ],
)
def test_more_is_worse_by_per_cent_and_above_what_is_harmless(
    before: float, after: float, is_worse: bool
) -> None:
    assert bool(worse(MORE, {"f": before}, {"f": after}, 20)) is is_worse


@pytest.mark.parametrize(
    ("before", "after", "tolerance", "is_worse"),
    [(80, 80, 0, False), (80, 79.99, 0, True), (80, 79.5, 0.5, False), (80, 79.4, 0.5, True),
     (80, 90, 0, False), (80.006, 80.002, 0, False), (80.004, 80, 0, False),
     (80.0149, 80.0051, 0, True)],
)  # fmt: skip
def test_less_is_worse_by_points(
    before: float, after: float, tolerance: float, is_worse: bool
) -> None:
    assert bool(worse(POINTS, {"all": before}, {"all": after}, tolerance)) is is_worse


def test_the_worst_is_told_first_with_both_values() -> None:
    before, after = {"a": 10, "b": 10, "c": 10}, {"a": 13, "b": 20, "c": 10}

    assert worse(MORE, before, after, 20) == ["b was 10 s, is 20 s", "a was 10 s, is 13 s"]


def test_two_values_are_told_with_as_many_digits_as_tell_them_apart() -> None:
    before, after = {"all": 80.00001}, {"all": 80.0}

    assert worse(POINTS, {"all": 80.0149}, {"all": 80.0051}, 0) == [
        "all was 80.0149 %, is 80.0051 %"
    ]
    assert POINTS.summary(before, after) == "was 80.00001 %, is 80 %"
    assert POINTS.summary({"all": 75}, {"all": 75}) == "was 75 %, is 75 %"


def test_two_that_are_not_the_same_thing_are_not_told_as_one() -> None:
    assert MORE.summary({"a": 10}, {"b": 99}) == "0 measured in both"
    assert MORE.summary({"a": 10}, {"a": 11}) == "was 10 s, is 11 s"


def test_what_a_file_under_a_new_name_measures_is_compared() -> None:
    before = {"old.py:f": 10.0, "old.py::test": 1.0, "b.py:f": 2.0, "coverage": 80.0}
    names = {"new.py": "old.py"}

    assert under_new_names(before, names) == {
        "new.py:f": 10.0,
        "new.py::test": 1.0,
        "b.py:f": 2.0,
        "coverage": 80.0,
    }


def test_what_is_new_or_gone_is_not_compared_unless_it_has_to_stay() -> None:
    staying = Scale(nothing, unit="", stays=True)

    assert worse(MORE, {"a": 10}, {"b": 99}, 20) == []
    assert worse(staying, {"a": 10}, {"b": 99}, 20) == ["a was 10, is not measured"]


def test_a_file_that_could_be_read_or_was_not_there_is_told_where_it_cannot_be_read() -> None:
    before, now = {"old.py": "x", "same.py": "x"}, dict.fromkeys(("same.py", "b.py", "new.py"), "y")

    assert newly_unread(before, now, {"new.py": "old.py"}) == ["b.py is not measured: y"]
    assert newly_unread({}, now, {}) == [f"{p} is not measured: y" for p in sorted(now)]


def test_many_are_counted() -> None:
    lines = shown([f"{i}" for i in range(30)]).split("\n")

    assert (len(lines), lines[-1]) == (21, "and 10 more")
