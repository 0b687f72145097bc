"""What answers mean: a no may come from anybody, a yes from who has seen all and is sure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.reasons import VerdictReason
from bernstein.checks import gates, signals
from bernstein.checks.asks import Asks
from bernstein.checks.gate import Writes
from bernstein.checks.prompts import current, named
from bernstein.checks.rules import cross_model
from bernstein.core.judging.answers import WEIGHTS
from bernstein.core.judging.forms import FORMS, verdict
from bernstein.core.judging.model_reasons import POLICIES, REMEDIES

RUNS = [
    *(kind.runs for kind in signals.SIGNALS),
    *(gate.runs for gate in gates.GATES),
    cross_model.ASKS,
]
ASKING = [
    *(runs for runs in RUNS if isinstance(runs, Asks)),
    *(runs.asks for runs in RUNS if isinstance(runs, Writes)),
]


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


def rated(**changes: float) -> str:
    points = dict.fromkeys(WEIGHTS, 6.0) | changes
    return json.dumps({**points, "feedback": "a.py: slow"})


def missing(*tests: str) -> str:
    return json.dumps({"missing": tests})


def reviewed(said: str, comments: str = "a.py: no") -> str:
    return json.dumps({"verdict": said, "comments": comments})


def meant(said: str) -> str:
    return json.dumps({"verdict": said, "feedback": "a.py: no"})


@pytest.mark.parametrize(
    ("form", "text", "whole", "cut"),
    [
        ("intent", meant("yes"), ("Passed", ""), ("Skipped", "Unsure")),
        ("intent", meant("partially"), ("Passed", "PartlyMet"), ("Skipped", "Unsure")),
        ("intent", meant("no"), ("Failed", "IntentNotMet"), ("Failed", "IntentNotMet")),
        ("intent", meant("YES"), ("Errored", "AnswerNotInForm"), ("Errored", "AnswerNotInForm")),
        ("cross_review", reviewed("approve"), ("Passed", ""), ("Skipped", "Unsure")),
        ("cross_review", reviewed("request_changes"), *2 * [("Failed", "ChangesRequested")]),
        ("cross_review", reviewed("request_changes", " "), *2 * [("Errored", "AnswerNotInForm")]),
        ("cross_review", reviewed("Approve"), *2 * [("Errored", "AnswerNotInForm")]),
        ("rubric", rated(), ("Passed", ""), ("Skipped", "Unsure")),
        ("rubric", rated(style=5.9), ("Failed", "ScoreTooLow"), ("Failed", "ScoreTooLow")),
        ("missing_tests", missing(), ("Passed", ""), ("Skipped", "Unsure")),
        ("missing_tests", missing("a"), ("Failed", "TestsMissing"), ("Failed", "TestsMissing")),
    ],
)
def test_the_answers_to_gates(
    form: str, text: str, whole: tuple[str, str], cut: tuple[str, str]
) -> None:
    for is_cut, expected in ((False, whole), (True, cut)):
        found = verdict(form, text, is_cut=is_cut, least=6.0)

        assert (found.verdict, found.reason) == expected


def test_points_count_as_heavily_as_their_side() -> None:
    """Each side alone at 0, all others at 10."""
    for side, weight in WEIGHTS.items():
        text = json.dumps({**dict.fromkeys(WEIGHTS, 10), side: 0, "feedback": ""})
        score = 10 - weight / 10

        assert verdict("rubric", text, is_cut=False, least=score).verdict == "Passed"
        assert verdict("rubric", text, is_cut=False, least=score + 0.01).verdict == "Failed"


def test_the_score_and_what_it_is_made_of_are_told() -> None:
    found = verdict("rubric", rated(security=2), is_cut=False, least=6.5)

    first, then = found.excerpt.split("\n")
    assert first.startswith("5 of 10, needed are 6.5: correctness 6, security 2, ")
    assert then == "a.py: slow"


def test_without_a_score_that_is_asked_for_nothing_passes() -> None:
    assert verdict("rubric", rated(), is_cut=False).verdict == "Errored"


def test_the_tests_that_are_missing_are_a_list() -> None:
    found = verdict("missing_tests", missing("a.py: f, of 0", "b.py: g\nof 1"), is_cut=False)

    assert found.excerpt == "- a.py: f, of 0\n- b.py: g of 1"


def test_who_reads_partially_reads_what_is_missing() -> None:
    for is_cut in (False, True):
        found = verdict("intent", meant("partially"), is_cut=is_cut)

        assert found.excerpt.endswith("partially\na.py: no")


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
    found: list[Any] = [
        *(VerdictReason.UNSURE, VerdictReason.JUDGE_RETRY, VerdictReason.PARTLY_MET),
    ]

    assert found == ["Unsure", "JudgeRetry", "PartlyMet"]
    assert not REMEDIES.keys() & {*map(str, POLICIES)}
