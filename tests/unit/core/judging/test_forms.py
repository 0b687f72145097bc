"""What answers mean: a no may come from anybody, a yes from who has seen all and is sure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.reasons import VerdictReason
from bernstein.checks import signals
from bernstein.checks.asks import Asks
from bernstein.checks.prompts import current, named
from bernstein.core.judging.forms import FORMS, verdict
from bernstein.core.judging.model_reasons import POLICIES, REMEDIES

ASKING = [kind.runs for kind in signals.SIGNALS if isinstance(kind.runs, Asks)]


def judged(said: str, confidence: float, *, is_cut: bool = False) -> tuple[str, str]:
    text = json.dumps({"verdict": said, "confidence": confidence, "feedback": "a.py: no"})
    found = verdict("judgement", text, is_cut=is_cut)
    return found.verdict, found.reason


@pytest.mark.parametrize(
    ("text", "is_cut", "expected"),
    [
        ("PASS", False, ("Passed", "")),
        ("PASS", True, ("Skipped", "Unsure")),
        ("FAIL\na.py: no test", False, ("Failed", "CriteriaNotMet")),
        ("FAIL\na.py: no test", True, ("Failed", "CriteriaNotMet")),
        ("PASS, of course", False, ("Errored", "AnswerNotInForm")),
    ],
)
def test_a_review(text: str, is_cut: bool, expected: tuple[str, str]) -> None:
    found = verdict("review", text, is_cut=is_cut)

    assert (found.verdict, found.reason) == expected


def test_a_judgement_counts_from_where_it_is_sure() -> None:
    assert judged("accept", 0.7) == ("Passed", "")
    assert judged("accept", 0.69) == ("Skipped", "Unsure")
    assert judged("retry", 0.7) == ("Failed", "JudgeRetry")
    assert judged("retry", 0.69) == ("Skipped", "Unsure")
    assert judged("maybe", 0.9) == ("Errored", "AnswerNotInForm")


def test_what_was_not_shown_cannot_be_accepted_but_rejected() -> None:
    assert judged("accept", 1.0, is_cut=True) == ("Skipped", "Unsure")
    assert judged("retry", 1.0, is_cut=True) == ("Failed", "JudgeRetry")


def test_who_is_asked_instead_sees_what_the_model_has_said() -> None:
    text = json.dumps({"verdict": "retry", "confidence": 0.5, "feedback": "a.py: no"})

    found = verdict("judgement", text, is_cut=False)

    assert "only 0.50 sure" in found.excerpt
    assert "a.py: no" in found.excerpt


def test_nothing_of_an_answer_in_no_form_is_shown() -> None:
    assert "secret" not in verdict("review", "secret", is_cut=False).excerpt


def test_a_form_that_nobody_knows_is_errored() -> None:
    assert verdict("haiku", "PASS", is_cut=False).verdict == "Errored"


@pytest.mark.parametrize("asks", ASKING, ids=lambda asks: asks.prompt)
def test_every_check_that_asks_has_a_prompt_and_a_form(asks: Asks) -> None:
    assert asks.form in FORMS
    assert named(current(asks.prompt)).text


@pytest.mark.parametrize("name", ["llm_review.v99", "llm_review", "../__init__.py", "x.v1"])
def test_a_prompt_that_there_is_not_is_no_file(name: str) -> None:
    with pytest.raises(KeyError):
        named(name)


def test_words_that_follow_from_answers_are_verdicts_reasons() -> None:
    found: list[Any] = [VerdictReason.UNSURE, VerdictReason.JUDGE_RETRY]

    assert found == ["Unsure", "JudgeRetry"]
    assert not REMEDIES.keys() & {*map(str, POLICIES)}
