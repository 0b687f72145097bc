"""What people are told of verdicts: the same, wherever they see them.

A verdict that has passed in all says enough. Any other has words of its own, which are sanitised as
they come in: a line of ours, what a command printed, or what a model has said of the work.
"""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.reasons import VerdictReason
from bernstein.api.verification import CheckResult
from bernstein.core.sanitise import line
from bernstein.core.sanitise import text as sanitise

LEFT_TO_A_PERSON = (VerdictReason.UNSURE, VerdictReason.JUDGE_RETRY)
"""Why a model's check is Skipped about which a person decides in its place."""
_NOT_JUDGED = (
    VerdictReason.CONDITION_NOT_MET,
    VerdictReason.NOT_REACHED,
    VerdictReason.NOT_FORMATTED,
)
"""Why a verdict tells nothing of the work."""
_MOST = 4
"""Verdicts whose words a question shows."""
_TITLE, _HEAD = 80, 200
"""Characters of a title, and of all that stands before the words of one verdict."""


def says(result: CheckResult) -> str:
    """What it has found, or printed; "" where it has passed in all: that needs no words."""
    in_all = result.verdict == "Passed" and not result.reason
    return "" if in_all else result.excerpt


def beside(result: CheckResult) -> str:
    """What stands behind the word of a verdict: why, and that it keeps nothing back, where it did
    not pass all the same."""
    reason = f" ({result.reason})" if result.reason else ""
    keeps = result.required or result.verdict == "Passed"
    return reason if keeps else f"{reason} (not required)"


def asked_about(results: Iterable[CheckResult], gate: str | None, limit: int) -> str:
    """What whoever decides about this work has to know, in at most `limit` characters: what the
    gate says without which it would go on; else, each below its own line, what models leave to him,
    and what besides did not pass, or not in all."""
    if gate is not None:
        return next((says(r) for r in results if r.name == gate), "")
    told = [r for r in results if says(r) and r.reason not in _NOT_JUDGED]
    told = sorted(told, key=lambda r: not is_left_to_a_person(r))[:_MOST]
    share = limit // max(1, len(told)) - _HEAD
    blocks = [f"{_named(r)}:\n{sanitise(says(r), share)}" for r in told]
    return sanitise("\n".join(blocks), limit)


def is_left_to_a_person(result: CheckResult) -> bool:
    """Whether a model was asked, and a person has to answer in its place."""
    skipped = result.verdict == "Skipped" and result.reason in LEFT_TO_A_PERSON
    return skipped and result.required and result.by_model is True


def _named(result: CheckResult) -> str:
    title = line(result.title or result.name, _TITLE)
    return line(f"{result.kind} {title}: {result.verdict}{beside(result)}", _HEAD - 2)
