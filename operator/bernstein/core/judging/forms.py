"""The forms in which models answer checks, and the verdict that follows from each answer.

What a model has not seen it cannot let pass: a yes to a change that was cut is a person's to give.
So is one of which the model itself is not sure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bernstein.api.reasons import VerdictReason
from bernstein.checks.verdict import Verdict, errored, failed, passed
from bernstein.core.judging import answers, written
from bernstein.core.judging.answers import MOST_POINTS, FormError
from bernstein.core.judging.model_reasons import NOT_IN_FORM

CRITERIA_NOT_MET = "CriteriaNotMet"
"""Failed: a model finds that the change does not meet the criteria."""
INTENT_NOT_MET = "IntentNotMet"
"""Failed: a model finds that the change is not what was asked for."""
CHANGES_REQUESTED = "ChangesRequested"
"""Failed: a model of another maker asks for changes."""
SCORE_TOO_LOW = "ScoreTooLow"
"""Failed: the change has too few points."""
TESTS_MISSING = "TestsMissing"
"""Failed, and keeps nothing back: a model finds that the change lacks tests."""
TEST: Final = "test"
"""The form of an answer that is a test: it is run, and that tells."""
_CUT = "part of the change was too much to be shown to the model"


@dataclass(frozen=True, slots=True)
class _Question:
    """What is known of it when its answer is read."""

    is_cut: bool
    """Part of the change was not in it."""
    least: float | None
    """The score that is asked for."""


def verdict(form: str, text: str, *, is_cut: bool, least: float | None = None) -> Verdict:
    """What an answer means; `least`: the score that it must give, where it gives one. Never raises:
    an answer in no form is Errored."""
    try:
        return _FORMS[form](text, _Question(is_cut, least))
    except KeyError:
        return errored("InvalidConfig", f"no form of answers is called {form!r}")
    except FormError as error:
        return errored(NOT_IN_FORM, f"the model's answer is not in the form: {error}")


def _review(text: str, question: _Question) -> Verdict:
    found = answers.review(text)
    if not found.passed:
        return failed(CRITERIA_NOT_MET, found.comment)
    return _yes(question, found.comment)


def _judgement(text: str, question: _Question) -> Verdict:
    found = answers.judgement(text)
    said = "accepts it" if found.accepted else "would have it done once more"
    if not found.is_sure:
        why = f"the model {said}, but is only {found.confidence:.2f} sure"
        return _unsure(why, found.feedback)
    if not found.accepted:
        return failed("JudgeRetry", found.feedback)
    return _yes(question, found.feedback)


def _intent(text: str, question: _Question) -> Verdict:
    found = answers.intent(text)
    if found.said == "no":
        return failed(INTENT_NOT_MET, found.feedback)
    if found.said == "partially":
        return _yes(question, f"partially\n{found.feedback}", VerdictReason.PARTLY_MET)
    return _yes(question, found.feedback)


def _cross_review(text: str, question: _Question) -> Verdict:
    found = answers.cross_review(text)
    if not found.approved:
        return failed(CHANGES_REQUESTED, found.comments)
    return _yes(question, found.comments)


def _rubric(text: str, question: _Question) -> Verdict:
    found = answers.rating(text)
    if question.least is None:
        return errored("InvalidConfig", "it is not said which score the work needs")
    sides = ", ".join(f"{side} {points:g}" for side, points in found.points.items())
    said = f"{found.score:g} of {MOST_POINTS}, needed are {question.least:g}: {sides}"
    told = f"{said}\n{found.feedback}".rstrip()
    if found.score < question.least:
        return failed(SCORE_TOO_LOW, told)
    return _yes(question, told)


def _missing_tests(text: str, question: _Question) -> Verdict:
    found = answers.missing_tests(text)
    if found:
        return failed(TESTS_MISSING, "\n".join(f"- {each}" for each in found))
    return _yes(question, "")


def _test(text: str, _question: _Question) -> Verdict:
    """Passed says that there is a test, not what comes of it. One for a part of the change is one
    like any other: it claims nothing of the rest."""
    written.packed(answers.written_test(text))
    return passed()


def _yes(question: _Question, said: str, reason: str = "") -> Verdict:
    """What lets the work on, if all of the change was shown."""
    if question.is_cut:
        return _unsure(_CUT, said)
    return Verdict("Passed", reason, said.rstrip())


def _unsure(why: str, said: str) -> Verdict:
    return Verdict("Skipped", "Unsure", f"{why}\n{said}".rstrip())


_FORMS: Final[Mapping[str, Callable[[str, _Question], Verdict]]] = {
    "review": _review,
    "judgement": _judgement,
    "intent": _intent,
    "cross_review": _cross_review,
    "rubric": _rubric,
    "missing_tests": _missing_tests,
    TEST: _test,
}

FORMS = tuple(_FORMS)
"""The words of all forms."""
