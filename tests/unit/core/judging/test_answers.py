"""Only an answer in the form that was asked for is one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.judging.answers import FormError, Judgement, Review, judgement, review


def said(**changes: Any) -> str:
    return json.dumps({"verdict": "accept", "confidence": 0.9, "feedback": "", **changes})


# --- llm_review ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PASS", Review(True, "")),
        ("FAIL", Review(False, "")),
        ("\n PASS \n", Review(True, "")),
        ("FAIL\r\na.py: no test\r\n", Review(False, "a.py: no test")),
        ("FAIL\n\n- a.py does not PASS x", Review(False, "- a.py does not PASS x")),
        ("PASS\nIt cannot FAIL.", Review(True, "It cannot FAIL.")),
        ("FAIL\n\x1b[31mred @all", Review(False, "red \uff20all")),
    ],
)
def test_a_review_is_read(text: str, found: Review) -> None:
    assert review(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pass",
        "Pass",
        "PASS.",
        "**PASS**",
        "PASS FAIL",
        "PASS/FAIL",
        "PASSED",
        "VERDICT: PASS",
        "The change is fine.\nPASS",
        "I would say PASS",
        "PASS\nFAIL",
        "FAIL\nPASS",
        "PASS\nPASS",
        "FAIL\nno test\n\n**PASS**",
        "PASS\n...\nVerdict: fail!",
        "P\u200bASS",
        "\ufeffPASS",
        "PAS\nS",
        "ACCEPT",
        said(),
        "PASS\n" + "x" * 20_000,
    ],
)
def test_what_is_no_review_is_none(text: str) -> None:
    with pytest.raises(FormError):
        review(text)


@given(st.text())
def test_no_text_is_a_review_by_chance(text: str) -> None:
    try:
        found = review(text)
    except FormError:
        return
    assert text.strip().split("\n")[0].strip() == ("PASS" if found.passed else "FAIL")


@given(st.sampled_from(["PASS", "FAIL"]), st.integers(0, 4), st.characters())
def test_a_character_more_makes_it_none(word: str, place: int, more: str) -> None:
    changed = word[:place] + more + word[place:]
    if changed.replace("\r\n", "\n").strip(" \t\n\r") == word:
        return

    try:
        found = review(changed)
    except FormError:
        return
    # A line of its own behind it, or white space.
    assert changed.split("\n")[0].rstrip() == word
    assert found.passed is (word == "PASS")


@given(st.booleans(), st.text(alphabet=st.characters(exclude_categories=["L"])))
def test_whatever_comment_has_no_letters_is_a_comment(passed: bool, comment: str) -> None:
    if len(comment) > 1000:
        return
    word = "PASS" if passed else "FAIL"

    assert review(f"{word}\n{comment}").passed is passed


# --- llm_judge ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (said(), Judgement(True, 0.9, "")),
        (f"\n {said()}\n", Judgement(True, 0.9, "")),
        (f"```json\n{said()}\n```", Judgement(True, 0.9, "")),
        (f"```\r\n{said()}\r\n```\n", Judgement(True, 0.9, "")),
        (said(verdict="retry", confidence=1), Judgement(False, 1.0, "")),
        (said(confidence=0, feedback="a\nb\x1b[2J"), Judgement(True, 0.0, "a\nb")),
        (said(feedback="\ud800 @all"), Judgement(True, 0.9, "\uff20all")),
        (json.dumps(json.loads(said()), indent=2), Judgement(True, 0.9, "")),
    ],
)
def test_a_judgement_is_read(text: str, found: Judgement) -> None:
    read = judgement(text)

    assert (read.accepted, read.confidence) == (found.accepted, found.confidence)
    assert read.feedback.strip() == found.feedback


@pytest.mark.parametrize(
    "text",
    [
        "",
        "accept",
        "PASS",
        "[]",
        "null",
        f"[{said()}]",
        f"{said()}{said()}",
        f"Here it is: {said()}",
        f"{said()}\nI am sure.",
        f"```json\n{said()}",
        f"```json\n{said()}\n```\nI am sure.",
        f"```python\n{said()}\n```",
        said(verdict="ACCEPT"),
        said(verdict="accept "),
        said(verdict=True),
        said(verdict=["accept"]),
        said(verdict={}),
        said(confidence="0.9"),
        said(confidence=True),
        said(confidence=None),
        said(confidence=1.01),
        said(confidence=-0.1),
        said(confidence=10**400),
        said(confidence=float("nan")),
        said(confidence=float("inf")),
        said().replace("0.9", "1e999"),
        said().replace("0.9", "9" * 5000),
        said(feedback=None),
        said(feedback=[]),
        said(reason="x"),
        '{"verdict": "accept", "confidence": 0.9}',
        '{"verdict": "retry", "verdict": "accept", "confidence": 0.9, "feedback": ""}',
        '{"verdict": "accept", "confidence": 0.9, "feedback": {"a": 1, "a": 2}}',
        said().replace('"', "'"),
        said()[:-1],
        "[" * 10_000,
        '{"a":' * 3000,
        said(feedback="x" * 20_000),
    ],
    ids=range(38),
)
def test_what_is_no_judgement_is_none(text: str) -> None:
    with pytest.raises(FormError) as failed:
        judgement(text)
    assert "accept" not in str(failed.value).replace("accept nor retry", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "verdict": st.sampled_from(["accept", "retry"]) | JSON,
        "confidence": st.floats(0, 1) | JSON,
        "feedback": st.text() | JSON,
        "more": JSON,
    },
)


@given(st.text() | JSON.map(json.dumps) | MEMBERS.map(json.dumps))
def test_nothing_but_the_form_is_a_judgement(text: str) -> None:
    try:
        found = judgement(text)
    except FormError:
        return
    members = json.loads(text)
    assert members["verdict"] == ("accept" if found.accepted else "retry")
    assert 0 <= found.confidence <= 1
    assert sorted(members) == ["confidence", "feedback", "verdict"]


@given(st.sampled_from(["accept", "retry"]), st.floats(0, 1), st.text(max_size=500))
def test_every_answer_in_the_form_is_a_judgement(verdict: str, sure: float, text: str) -> None:
    found = judgement(said(verdict=verdict, confidence=sure, feedback=text))

    assert found.accepted is (verdict == "accept")
    assert found.confidence == sure
    assert len(found.feedback) <= 2000


def test_below_seven_tenths_it_is_not_sure() -> None:
    assert judgement(said(confidence=0.7)).is_sure
    assert not judgement(said(confidence=0.69)).is_sure
