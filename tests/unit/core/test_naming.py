"""Names of Plans and Tasks."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bernstein.core import naming

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")

headings = st.text(min_size=1, max_size=60)
steps = st.lists(st.tuples(headings, headings), min_size=1, max_size=20, unique=True)


def test_a_short_name_is_the_slugs_joined() -> None:
    assert naming.task_names("web", [("build", "Add JWT"), ("test", "Run all tests!")]) == (
        "web-build-add-jwt",
        "web-test-run-all-tests",
    )


def test_a_long_name_is_cut_readably_and_hashed() -> None:
    (name,) = naming.task_names("rate-limit-api", [("implement", "Add RateLimiter middleware")])

    assert re.fullmatch(r"rate-limit-implement-add-ratelimi-[0-9a-f]{6}", name)
    assert len(name) <= 40


def test_names_that_would_be_equal_are_told_apart_by_a_hash() -> None:
    first, second, third = naming.task_names(
        "p", [("s", "Do it!"), ("s", "Do it?"), ("s", "Other")]
    )

    assert first != second
    assert first.startswith("p-s-do-it-")
    assert second.startswith("p-s-do-it-")
    assert third == "p-s-other"


def test_a_name_does_not_depend_on_the_steps_beside_it() -> None:
    alone = naming.task_names("plan", [("a", "One")])
    beside = naming.task_names("plan", [("a", "Zero"), ("a", "One"), ("b", "One")])

    assert alone[0] == beside[1]


def test_text_without_any_latin_letter_still_gives_a_name() -> None:
    (name,) = naming.task_names("plan", [("設計", "実装")])

    assert DNS_LABEL.match(name)
    assert naming.plan_name("計画").startswith("plan-")


@given(st.text(max_size=80), steps)
def test_task_names_are_distinct_labels_of_at_most_40_characters(
    plan: str, titles: list[tuple[str, str]]
) -> None:
    names = naming.task_names(plan, titles)

    assert len(set(names)) == len(titles)
    assert all(DNS_LABEL.match(name) and len(name) <= 40 for name in names)


@given(st.text(max_size=80), steps)
def test_task_names_are_stable(plan: str, titles: list[tuple[str, str]]) -> None:
    assert naming.task_names(plan, titles) == naming.task_names(plan, titles)


@given(st.text(min_size=1, max_size=300))
def test_a_plans_name_is_a_label_of_at_most_40_characters(text: str) -> None:
    name = naming.plan_name(text)

    assert DNS_LABEL.match(name)
    assert len(name) <= 40


def test_long_plans_that_begin_alike_get_different_names() -> None:
    assert naming.plan_name("x" * 50) != naming.plan_name("x" * 51)


@given(st.text(min_size=1, max_size=300))
def test_a_label_value_is_always_legal(text: str) -> None:
    value = naming.label_value(text)

    assert LABEL_VALUE.match(value)
    assert len(value) <= 63


def test_a_legal_label_value_is_left_alone() -> None:
    assert naming.label_value("Plan_1.x") == "Plan_1.x"


@given(st.text(), st.text(), st.text(), st.text())
def test_the_hash_tells_where_a_part_ends(a: str, b: str, c: str, d: str) -> None:
    same = (a, b) == (c, d)
    assert (naming.short_hash(a, b, length=64) == naming.short_hash(c, d, length=64)) is same
