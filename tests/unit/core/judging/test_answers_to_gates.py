"""Only an answer in the form that a gate asks for is one."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.judging.answers import (
    MOST_TESTS,
    WEIGHTS,
    FormError,
    Intended,
    cross_review,
    intent,
    missing_tests,
    rating,
)

READERS = (cross_review, intent, rating, missing_tests)
OF_NO_FORM = [
    "",
    "yes",
    "PASS",
    "[]",
    "null",
    "{}",
    "6",
    "[" * 10_000,
    "{" * 10_000,
    "x" * 20_000,
]


def meant(**changes: Any) -> str:
    return json.dumps({"verdict": "yes", "feedback": "", **changes})


def rated(**changes: Any) -> str:
    return json.dumps({**dict.fromkeys(WEIGHTS, 6), "feedback": "", **changes})


@pytest.mark.parametrize("text", OF_NO_FORM, ids=range(len(OF_NO_FORM)))
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_what_is_no_object_of_that_form_is_none(read: Any, text: str) -> None:
    with pytest.raises(FormError):
        read(text)


# --- intent_verification --------------------------------------------------------------------------


@pytest.mark.parametrize("word", get_args(Intended))
def test_each_of_three_words_is_an_answer(word: str) -> None:
    found = intent(f"```json\n{meant(verdict=word, feedback='a.py: x')}\n```")

    assert (found.said, found.feedback) == (word, "a.py: x")


@pytest.mark.parametrize(
    "text",
    [
        meant(verdict="YES"),
        meant(verdict="yes "),
        meant(verdict="Yes, of course"),
        meant(verdict="partial"),
        meant(verdict=True),
        meant(verdict=["yes"]),
        meant(verdict=None),
        meant(feedback=None),
        meant(feedback=["x"]),
        meant(confidence=1),
        json.dumps({"verdict": "yes"}),
        f"Here it is: {meant()}",
        f"{meant()}\nThat is all.",
        f"{meant()}{meant(verdict='no')}",
        '{"verdict": "no", "verdict": "yes", "feedback": ""}',
    ],
    ids=range(15),
)
def test_what_says_neither_of_them_is_none(text: str) -> None:
    with pytest.raises(FormError):
        intent(text)


# --- the review by another maker's model ----------------------------------------------------------


def reviewed(**changes: Any) -> str:
    return json.dumps({"verdict": "approve", "comments": "", **changes})


def test_a_reviewer_approves_or_asks_for_changes() -> None:
    yes = cross_review(reviewed())
    no = cross_review(f"```\n{reviewed(verdict='request_changes', comments='a.py: x')}\n```")

    assert (yes.approved, yes.comments) == (True, "")
    assert (no.approved, no.comments) == (False, "a.py: x")


@pytest.mark.parametrize(
    "text",
    [
        reviewed(verdict="APPROVE"),
        reviewed(verdict="approved"),
        reviewed(verdict="approve "),
        reviewed(verdict="comment"),
        reviewed(verdict=True),
        reviewed(verdict=["approve"]),
        reviewed(comments=None),
        reviewed(comments=["a.py: x"]),
        reviewed(feedback=""),
        reviewed(verdict="request_changes"),
        reviewed(verdict="request_changes", comments=" \n "),
        json.dumps({"verdict": "approve"}),
        meant(verdict="approve"),
        f"Looks good to me. {reviewed()}",
        f"{reviewed(verdict='request_changes', comments='x')}\n{reviewed()}",
        '{"verdict": "request_changes", "verdict": "approve", "comments": "x"}',
    ],
    ids=range(16),
)
def test_what_is_no_review_is_none(text: str) -> None:
    with pytest.raises(FormError):
        cross_review(text)


# --- review_rubric --------------------------------------------------------------------------------


def test_the_sides_weigh_a_whole_together() -> None:
    assert sum(WEIGHTS.values()) == 100


def test_the_score_is_worked_out_from_the_points() -> None:
    found = rating(rated(correctness=10, security=5, feedback="a.py: \x1b[31mred"))

    assert found.score == 7.15
    assert found.feedback == "a.py: red"
    assert [*found.points] == [*WEIGHTS]
    assert (rating(rated()).score, rating(rated(style=5.8)).score) == (6.0, 5.97)


@pytest.mark.parametrize(
    "text",
    [
        rated(security="6"),
        rated(security=True),
        rated(security=None),
        rated(security=[6]),
        rated(security=10.01),
        rated(security=-0.1),
        rated(security=10**400),
        rated(security=float("nan")),
        rated(security=float("inf")),
        rated(security="6/10"),
        rated(feedback=3),
        rated(score=9),
        rated(total=9),
        json.dumps(dict.fromkeys(WEIGHTS, 6)),
        json.dumps({"score": 9, "feedback": ""}),
        rated()[:-1] + ', "security": 10}',
    ],
    ids=range(16),
)
def test_what_is_no_rating_is_none(text: str) -> None:
    with pytest.raises(FormError):
        rating(text)


@given(st.lists(st.floats(0, 10), min_size=5, max_size=5), st.text(max_size=300))
def test_every_rating_has_a_score_between_its_points(points: list[float], said: str) -> None:
    found = rating(json.dumps({**dict(zip(WEIGHTS, points, strict=True)), "feedback": said}))

    assert min(points) - 0.01 <= found.score <= max(points) + 0.01


# --- test_expansion -------------------------------------------------------------------------------


def test_a_list_of_lines_is_read_and_each_is_one_line_that_is_safe_to_show() -> None:
    said = json.dumps({"missing": ["a.py: f, of 0", "b.py:\n\x1b[31mg @all", "x" * 2000]})

    found = missing_tests(said)

    assert found[:2] == ("a.py: f, of 0", "b.py: g \uff20all")
    assert len(found[2]) <= 301
    assert missing_tests('{"missing": []}') == ()


@pytest.mark.parametrize(
    "missing",
    ["", "none", None, {}, {"a.py": "f"}, [1], [None], [["a"]], [""], [" \n"], ["a"] * 11],
    ids=range(11),
)
def test_what_is_no_list_of_lines_is_none(missing: Any) -> None:
    assert MOST_TESTS == 10

    with pytest.raises(FormError):
        missing_tests(json.dumps({"missing": missing}))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMES = ("verdict", "feedback", "missing", *WEIGHTS)
MEMBERS = st.dictionaries(st.sampled_from(NAMES) | st.text(), st.floats(0, 10) | JSON)


@given(st.text() | JSON.map(json.dumps) | MEMBERS.map(json.dumps))
def test_nothing_is_an_answer_to_two_gates_or_breaks_the_reader(text: str) -> None:
    read = 0
    for reader in READERS:
        try:
            reader(text)
        except FormError:
            continue
        read += 1

    assert read <= 1
