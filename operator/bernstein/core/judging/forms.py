"""The forms in which models answer checks, and the verdict that follows from each answer.

What a model has not seen it cannot let pass: a yes to a change that was cut is a person's to give.
So is one of which the model itself is not sure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from bernstein.checks.verdict import Verdict, errored, failed, passed
from bernstein.core.judging import answers
from bernstein.core.judging.answers import FormError
from bernstein.core.judging.model_reasons import NOT_IN_FORM

CRITERIA_NOT_MET = "CriteriaNotMet"
"""Failed: a model finds that the change does not meet the criteria."""
_CUT = "part of the change was too much to be shown to the model"


def verdict(form: str, text: str, *, is_cut: bool) -> Verdict:
    """What an answer means. Never raises: an answer in no form is Errored."""
    try:
        return _FORMS[form](text, is_cut)
    except KeyError:
        return errored("InvalidConfig", f"no form of answers is called {form!r}")
    except FormError as error:
        return errored(NOT_IN_FORM, f"the model's answer is not in the form: {error}")


def _review(text: str, is_cut: bool) -> Verdict:
    found = answers.review(text)
    if not found.passed:
        return failed(CRITERIA_NOT_MET, found.comment)
    return _unsure(_CUT, found.comment) if is_cut else passed(found.comment)


def _judgement(text: str, is_cut: bool) -> Verdict:
    found = answers.judgement(text)
    said = "accepts it" if found.accepted else "would have it done once more"
    if not found.is_sure:
        why = f"the model {said}, but is only {found.confidence:.2f} sure"
        return _unsure(why, found.feedback)
    if not found.accepted:
        return failed("JudgeRetry", found.feedback)
    return _unsure(_CUT, found.feedback) if is_cut else passed(found.feedback)


def _unsure(why: str, said: str) -> Verdict:
    return Verdict("Skipped", "Unsure", f"{why}: a person must decide\n{said}".rstrip())


_FORMS: Final[Mapping[str, Callable[[str, bool], Verdict]]] = {
    "review": _review,
    "judgement": _judgement,
}

FORMS = tuple(_FORMS)
"""The words of all forms."""
