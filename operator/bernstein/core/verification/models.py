"""Checks that a model answers: what follows from their verdicts, and what was used for them.

accepted, or rejected ──▶ Passed, or Failed like any check
not sure              ──▶ Skipped(Unsure): all else is judged, and then a person decides
only to be told       ──▶ the verdict is not required; who cannot answer keeps the work back
one more attempt      ──▶ Failed(JudgeRetry), up to MAX_RETRIES of a Task; then it is
                          Skipped(JudgeRetry), and a person decides
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from bernstein.api import encoding
from bernstein.api.meta import UsageCounts
from bernstein.api.money import parse
from bernstein.api.pod import EXCERPT_CHARACTERS, JUDGE, CheckVerdict
from bernstein.api.programs.judge import JudgeResult, Spent
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.verification import (
    MOST_CALLS,
    CheckResult,
    HeardModel,
    ModelCalls,
    Verification,
)
from bernstein.checks.spec import CheckSpec
from bernstein.core import labels, pods, runs
from bernstein.core.jobs import JobView
from bernstein.core.judging.model_reasons import POLICIES, REMEDIES, ModelReason
from bernstein.core.sanitise import text as sanitise
from bernstein.core.verification.executed import result_of
from bernstein.core.verification.inspections import is_judge

MAX_RETRIES = 2
"""Attempts of a Task that are made because a model has asked for one more."""
_MOST_HEARD = 8
"""As many as may be asked the same."""
_ANSWERS = ("Passed", "Failed", "Skipped")
_NO_MODEL = "a model is to be asked that the Project does not have"
ONCE_MORE = f"the model asks for one more attempt, after {MAX_RETRIES} that were made for that"


class Naming(Protocol):
    """How the Jobs of a round are called: the part of a Question that is read here."""

    def __call__(self, check: str, number: int, /) -> str: ...


def without_model(check: CheckSpec) -> CheckResult:
    """The verdict where nobody can be asked."""
    if check.unfit:
        return result_of(check, "Errored", Reason.NO_REVIEWER, check.unfit)
    return result_of(check, "Errored", Reason.NO_MODEL, _NO_MODEL)


def decided(check: CheckSpec, result: CheckResult) -> CheckResult:
    """The verdict that counts: models may not send a Task back for ever, and what they answer may
    be only for people and the author to know."""
    if not check.blocks and result.verdict != "Errored":
        return result.model_copy(update={"required": False})
    if result.reason != VerdictReason.JUDGE_RETRY or not check.is_last:
        return result
    text = f"{ONCE_MORE}: a person must decide\n{result.excerpt}"
    left = result_of(check, "Skipped", VerdictReason.JUDGE_RETRY, text)
    return left.model_copy(update={"image": result.image, "ended_at": result.ended_at})


def remedy(reason: str) -> str | None:
    """What helps where no model could answer; None: the reason is none of theirs."""
    if reason in REMEDIES:
        return REMEDIES[reason]
    return POLICIES[ModelReason(reason)].remedy if reason in _KNOWN else None


_KNOWN = frozenset(map(str, ModelReason))


def heard(
    judged: Verification, name: Naming, jobs: Mapping[str, JobView], now: datetime
) -> Verification:
    """With what the Jobs have used that have told it since; each counts once.

    A Job that was ended before it could tell counts nothing: nobody knows what it has used.
    """
    known = {call.job for call in judged.calls or ()}
    new = [
        call
        for job in sorted(jobs.values(), key=lambda job: job.name)
        if job.main == JUDGE and job.name not in known and runs.is_over(job, now)
        if _is_of(job, judged, name)
        for call in _calls(job)
    ]
    if not new:
        return judged
    # What is forgotten can be counted once more only where its Job is still there.
    old = [c for c in judged.calls or () if c.job in jobs or len(known) + len(new) <= MOST_CALLS]
    return judged.model_copy(update={"calls": (*old, *new)[-MOST_CALLS:]})


def lacking(judged: Verification, jobs: Iterable[JobView]) -> Verification:
    """With what the Jobs might spend in which a question could have cost more; None: there was
    enough."""
    told = [each for job in jobs if job.main == JUDGE for each in _told(job)]
    short = [
        dollars
        for each in told
        if any(_costs_too_much(v) for v in each.verdicts)
        if (dollars := parse(each.dollars or "")) is not None
    ]
    most = max(short, key=Decimal, default=None)
    return judged.model_copy(update={"too_little_usd": most})


def answered(
    judged: Verification, jobs: Iterable[tuple[JobView, str]], now: datetime
) -> Verification:
    """With what some of several models have answered where others could not, so that nobody pays
    them once more. `jobs`: each with the digest of its questions."""
    told = [
        answer
        for job, asked in jobs
        if job.main == JUDGE and runs.is_over(job, now)
        for answer in _answers(job, asked)
    ]
    return judged.model_copy(update={"heard": tuple(told[:_MOST_HEARD])}) if told else judged


def known(judged: Verification, asked: str) -> tuple[CheckVerdict, ...]:
    """What models have answered of the questions of that digest."""
    return tuple(
        CheckVerdict(each.model, each.verdict, each.reason, each.excerpt)
        for each in judged.heard or ()
        if each.asked == asked
    )


def _answers(job: JobView, asked: str) -> Iterator[HeardModel]:
    for each in (said for told in _told(job) for said in told.heard):
        if each.verdict in _ANSWERS:
            yield HeardModel.model_validate(
                {
                    "asked": asked,
                    "model": each.name[:300],
                    "verdict": each.verdict,
                    "reason": each.reason[:64],
                    "excerpt": sanitise(each.excerpt, EXCERPT_CHARACTERS),
                }
            )


def _costs_too_much(verdict: CheckVerdict) -> bool:
    return (verdict.verdict, verdict.reason) == ("Errored", ModelReason.BUDGET_EXCEEDED)


def _is_of(job: JobView, judged: Verification, name: Naming) -> bool:
    """Whether it has judged this tree: others of the Task have judged its earlier attempts."""
    called = job.labels.get(labels.CHECK, "")
    numbers = range(judged.first_round or 0, judged.round + 1)
    return is_judge(called) and any(job.name == name(called, number) for number in numbers)


def _calls(job: JobView) -> Iterator[ModelCalls]:
    for told in _told(job):
        for spent in told.spent:
            yield _call(job.name, spent)


def _told(job: JobView) -> Iterator[JudgeResult]:
    """What it has told, if anything."""
    ended = pods.terminated(job.pod or {}, JUDGE) or {}
    with suppress(ValueError):
        yield encoding.load(JudgeResult, ended.get("message") or "")


def _call(job: str, spent: Spent) -> ModelCalls:
    usage = spent.usage
    counts = UsageCounts(
        input=max(usage.input, 0),
        output=max(usage.output, 0),
        cache_read=max(usage.cache_read, 0),
        cache_write=max(usage.cache_write, 0),
    )
    return ModelCalls(job=job, model=spent.model[:300], usage=counts, exact=spent.exact)
