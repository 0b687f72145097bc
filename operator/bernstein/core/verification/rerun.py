"""After a check could not run: it alone is run again.

    could not run ───────────▶ a new Job, of the new round
    has its verdict ─────────▶ the verdict stays, whatever becomes of its Job
    is at work, or to start ─▶ goes on, by the Job of the round in which it was asked

That holds for one tree, one base and one policy: whatever else changes begins all of it anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from bernstein.api.reasons import VerdictReason
from bernstein.api.verification import CheckAgain, CheckResult, Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core import names, pods
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import SOON_TRIES
from bernstein.core.verification import base
from bernstein.core.verification.inspections import shared, writer
from bernstein.core.verification.verdicts import OURS
from bernstein.core.waiting import Waits, goes_on, is_stalled, tries_again, waits_for_jobs

S = TypeVar("S", bound=Waits)


def stay(judged: Verification, checks: Iterable[CheckSpec]) -> dict[str, CheckResult]:
    """The verdicts of earlier rounds that stay, by check."""
    if judged.again is None:
        return {}
    asked = {(check.name, check.digest) for check in checks}
    return {r.name: r for r in judged.checks if _stays(r) and (r.name, r.asked) in asked}


def suspected(judged: Verification, checks: Iterable[CheckSpec]) -> frozenset[str]:
    """What could not judge this tree before, which may have been the work's doing: checks that
    execute, and Jobs of those that only read, as they are called."""
    marked = {each.check for each in judged.again or () if each.suspected}
    compared = (c.name for c in checks if names.on_base(c.name) in marked)
    return frozenset({*marked, *compared})


def round_of(judged: Verification, called: str) -> int:
    """The number in the name of the Job that is called so: of a check, of one on the base, or of
    checks that execute nothing."""
    if judged.again is None or judged.since is None:
        return judged.round
    numbers = {each.check: each.round for each in judged.again}
    return numbers.get(called, judged.since)


def waits_at_work(
    status: S, judged: Verification, existing: Mapping[str, JobView], now: datetime
) -> S:
    """What one of its Jobs waits for. What could not run last says so until all that is tried again
    has begun."""
    found = waits_for_jobs(goes_on(status), existing.values(), now)
    if not tries_again(status) or is_stalled(found):
        return found
    anew = [job for c, job in existing.items() if round_of(judged, c) == judged.round]
    begun = [job.pod is not None and pods.has_started(job.pod, job.main) for job in anew]
    return found if begun and all(begun) else status


def was_waited_for(
    status: Waits, judged: Verification, why: Diagnosis, existing: Collection[str]
) -> bool:
    """Whether a check has failed beside what was waited for since: nothing was tried after it, so
    that both are tried again at the same time. `existing`: the Jobs, as they are called."""
    tried = any(round_of(judged, called) == judged.round for called in existing)
    return tries_again(status) and not tried and policy(why.reason).retry is Retry.SOON


def could_not_run(
    checks: Sequence[CheckSpec],
    found: Sequence[CheckResult | None],
    works: Mapping[str, CheckResult],
) -> set[str]:
    """The Jobs that are to be run again, as they are called. `found`: the verdicts so far.

    `works`: what commands said of the work alone. Where only the base could not be asked, that
    stands.
    """
    errored = {r.name for r in found if r is not None and r.verdict == "Errored"}
    of_no_use = {
        writer(r.name)
        for r in found
        if r is not None and r.reason == VerdictReason.WRITTEN_TEST_UNUSABLE
    }
    return {*_executing(checks, errored, works), *_sharing(checks, errored), *of_no_use}


def next_try(
    judged: Verification,
    checks: Sequence[CheckSpec],
    found: Iterable[CheckResult | None],
    works: Mapping[str, CheckResult],
    again: Iterable[str],
) -> Verification:
    """The same tree in the next round, in which these Jobs are run `again`, and nothing else.

    `found`, `works`: see `could_not_run`.
    """
    again = set(again)
    number, results = judged.round + 1, tuple(r for r in found if r is not None)
    open_ = _open(checks, {r.name for r in results if _stays(r)})
    numbers = {each.check: each.round for each in judged.again or ()}
    numbers |= dict.fromkeys(again, number)
    left = tuple(a for a in judged.abandoned or () if numbers.get(a.check) != number)
    suspects = {*suspected(judged, checks), *_suspects(checks, results, works)}
    return judged.model_copy(
        update={
            "round": number,
            "since": judged.round if judged.since is None else judged.since,
            "again": tuple(
                CheckAgain(check=called, round=of, suspected=called in suspects or None)
                for called, of in sorted(numbers.items())
                if called in open_
            ),
            "abandoned": left or None,
            "written": None if _is_written_anew(judged, again) else judged.written,
            "checks": results,
        }
    )


def counting_few(judged: Verification, next_: Verification) -> Verification:
    """The next round, of which no more are counted than matter to when the next one begins."""
    first = max(judged.first_round or 0, judged.round - SOON_TRIES)
    return next_.model_copy(update={"first_round": first or judged.first_round})


def _is_written_anew(judged: Verification, again: Collection[str]) -> bool:
    return judged.written is not None and writer(judged.written.check) in again


def _suspects(
    checks: Sequence[CheckSpec], results: Iterable[CheckResult], works: Mapping[str, CheckResult]
) -> Iterator[str]:
    """Jobs, as they are called, that could not judge in a way that the work may have chosen."""
    errored = {r.name: r for r in results if r.verdict == "Errored"}
    for check in checks:
        work, result = works.get(check.name), errored.get(check.name)
        if not check.executes or work is None or result is None:
            continue
        if work.reason in base.CANNOT_TELL or _broke(work):
            yield check.name
        elif base.compares(check, work) and _broke(result):
            # A comparison reads what the work left, too; any other run on the base does not.
            yield names.on_base(check.name)
    yield from _sharing(checks, {name for name, result in errored.items() if _broke(result)})


def _broke(result: CheckResult) -> bool:
    return result.reason in OURS


def _stays(result: CheckResult) -> bool:
    return result.verdict != "Errored" and result.reason != VerdictReason.NOT_REACHED


def _executing(
    checks: Iterable[CheckSpec], errored: set[str], works: Mapping[str, CheckResult]
) -> Iterator[str]:
    for check in checks:
        if not check.executes or check.name not in errored:
            continue
        work = works.get(check.name)
        if work is None or work.verdict == "Errored":
            yield check.name
        yield names.on_base(check.name)


def _sharing(checks: Iterable[CheckSpec], errored: set[str]) -> Iterator[str]:
    for called, together in shared(checks).items():
        if any(check.name in errored for check in together):
            yield called


def _open(checks: Sequence[CheckSpec], known: set[str]) -> set[str]:
    """What the Jobs of checks are called that have no verdict yet."""
    left = {check.name for check in checks} - known
    together_left = {
        called
        for called, together in shared(checks).items()
        if any(check.name in left for check in together)
    }
    writers = {writer(check.name) for check in checks if check.test is not None}
    return left | set(map(names.on_base, left)) | together_left | (writers & set(map(writer, left)))
