"""One round of judging one tree, a Task's or a Plan's: starts missing Jobs, reads ended ones.

    passed is None ──take()──┬─▶ Undecided  Jobs are at work, or a hold runs
                             ├─▶ Passed     `passed` is True, `digest` names the verdicts
                             ├─▶ Rejected   `passed` is False: a required check said no
                             ├─▶ CannotRun  one could not judge: it runs again, at once or later
                             └─▶ Lost       the candidate is not at its ref any more

The condition Verified says it, of a Task and of a Plan. What follows from all but Undecided is the
caller's decision.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Generic, Protocol, TypeVar

from bernstein.api.meta import ConditionType
from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.verification import CheckResult, Verification
from bernstein.api.waiting import Waiting, WaitScope
from bernstein.core import runs
from bernstein.core.actions import JobAction, RunFence, RunJudge, give_up
from bernstein.core.conditions import Progress, note
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.logs import checks as check_logs
from bernstein.core.reasons import policy
from bernstein.core.reasons.limits import MAX_GATE_ERRORS, MAX_ROUNDS
from bernstein.core.reasons.row import Retry
from bernstein.core.sanitise import count, cut, without_quotes
from bernstein.core.verification import (
    cached,
    models,
    remedies,
    rerun,
    summary,
    verdicts,
    written,
)
from bernstein.core.verification.candidate import LOST
from bernstein.core.verification.inspections import is_judge
from bernstein.core.verification.look import Look, Question, RunAnswers, judging, look
from bernstein.core.verification.outstanding import outstanding
from bernstein.core.verification.score import score
from bernstein.core.waiting import (
    goes_on,
    held,
    is_held,
    is_mended,
    seconds_left,
    seconds_to_next_try,
    tries_again,
    trying_again,
    waits,
    waits_for_jobs,
)

ENDLESS = (
    f"the checks were run {MAX_ROUNDS} times without an end: "
    "are the CRDs of the cluster as new as the operator?"
)
_WHICH = 1000
"""Characters of a condition for the checks that said no."""
_SAYS_MORE = "status.verification"
"""Where what a check has printed stands."""


class Judged(Progress, Protocol):
    """What a round reads and writes in the status of a Task or a Plan."""

    @property
    def verification(self) -> Verification | None: ...
    @property
    def waiting(self) -> Waiting | None: ...
    @property
    def gate_errors(self) -> int: ...
    @property
    def reports(self) -> int: ...


S = TypeVar("S", bound=Judged)


@dataclass(frozen=True)
class Undecided(Generic[S]):
    status: S
    actions: tuple[JobAction, ...] = ()
    requeue_after: float | None = None


@dataclass(frozen=True)
class Passed(Generic[S]):
    status: S
    actions: tuple[JobAction, ...] = ()


@dataclass(frozen=True)
class Rejected(Generic[S]):
    status: S
    results: tuple[CheckResult, ...]
    """Every verdict."""
    actions: tuple[JobAction, ...] = ()

    @property
    def reason(self) -> Reason:
        """SignalFailed, GateFailed, or that of a rule or the review."""
        return summary.reason(self.results)


@dataclass(frozen=True)
class CannotRun(Generic[S]):
    status: S
    actions: tuple[JobAction, ...] = ()


@dataclass(frozen=True)
class Lost(Generic[S]):
    status: S
    why: Diagnosis
    actions: tuple[JobAction, ...] = ()


RoundState = Undecided[S] | Passed[S] | Rejected[S] | CannotRun[S] | Lost[S]


def take(
    status: S, question: Question, jobs: Mapping[str, JobView], now: datetime
) -> RoundState[S]:
    """One look at the checks of a tree that has no verdict yet. `jobs`: by name."""
    judged, project = status.verification, question.project
    assert judged is not None
    if status.waiting is not None and is_held(status):
        resting = _at_rest(status, status.waiting, judged, question, now)
        if resting is not None:
            return resting
        status, judged = _resumed(status, judged)
    judged = models.heard(judged, question.job, jobs, now)
    judged = written.heard(judged, question.checks, question.job, jobs, now)
    question = replace(question, checks=written.with_tests(question.checks, judged))
    status = trying_again(status.model_copy(update={"verification": judged}), project)
    if _is_endless(judged):
        return Undecided(_endless(status, project, now))
    seen = look(question, judged, jobs, now)
    digest = summary.digest_of_checks(question.checks)
    if judged.policy not in (None, digest) or seen.is_outdated:
        return Undecided(again(status, afresh(judged)), give_up(judging(jobs)))
    judged, of_use = cached.begun(question, judged, seen.existing)
    seen = look(question, judged, jobs, now) if of_use else seen
    abandoned = verdicts.abandon(question.checks, judged.abandoned, seen.existing, now)
    judged = judged.model_copy(update={"abandoned": abandoned, "policy": digest})
    judged = models.answered(judged, seen.asked(), now)
    status = status.model_copy(update={"verification": judged})
    outcome = _read(status, judged, question, seen, seen.unasked(jobs), now)
    return replace(outcome, actions=(*of_use, *outcome.actions)) if of_use else outcome


def _at_rest(
    status: S, waiting: Waiting, judged: Verification, question: Question, now: datetime
) -> Undecided[S] | None:
    """While it is held: for some time, or until the Project changes. None: that is over.

    Who tries for others by now, or follows one who got on, tries sooner than was said before.
    """
    project = question.project
    until_changed = _is_over(status) or is_of_base(status) or _is_endless(judged)
    if until_changed and not is_mended(waiting, project):
        return Undecided(status)
    leads = not (question.crowd or question.resting)
    seconds = seconds_left(waiting, project, now, leads=leads, follows=question.follows)
    return Undecided(status, (), seconds) if seconds is not None else None


def _times(judged: Verification) -> int:
    """How often in a row the checks of this tree were begun, or will have been."""
    return judged.round - (judged.first_round or 0)


def _read(
    status: S,
    judged: Verification,
    question: Question,
    seen: Look,
    unasked: Collection[JobView],
    now: datetime,
) -> RoundState[S]:
    """What follows from the Jobs that there are; those of them that are `unasked` are ended."""
    checks, gates, existing = question.checks, question.project.spec.gates, seen.existing
    abandoned, works = judged.abandoned, seen.works
    known = verdicts.so_far(
        *(checks, existing, now, gates, abandoned),
        works=works,
        kept=seen.kept,
        again=seen.suspected,
    )
    results, over = verdicts.complete(known), goes_on(status)
    late = [job for job in unasked if not runs.is_over(job, now)]
    if results is not None and late:
        # A verdict may be the end of all: until they have ended there is none.
        return Undecided(waits_for_jobs(over, late, now), give_up(late), LOOK_AGAIN_SECONDS)
    if results is not None:
        judged = models.lacking(judged, existing.values())
        answered = _answered(judged, existing, now)
        outcome = _judge(over, judged, question, results, works, answered, now)
        status, logs = check_logs.keep(judged.checks, outcome.status, existing)
        new = cached.to_keep(question, judged, results, seen)
        ended = give_up(existing.values())
        return replace(outcome, status=status, actions=(*logs, *new, *ended))
    given_up = [a.check for a in abandoned or () if a.check in existing]
    doubled = [check for check, job in existing.items() if job.another and check not in given_up]
    early = [existing[check] for check in given_up if existing[check].goes_on]
    ended = give_up((*(existing[check] for check in (*given_up, *doubled)), *unasked))
    status, logs = check_logs.keep_early(status, early)
    unable = verdicts.unable(checks, existing, now, abandoned)
    if unable is not None:
        to_run = rerun.could_not_run(checks, known, works) - _answered(judged, existing, now)
        next_ = rerun.next_try(judged, checks, known, works, to_run)
        stopped: RoundState[S] = (
            Undecided(status.model_copy(update={"verification": rerun.counting_few(judged, next_)}))
            if rerun.was_waited_for(status, judged, unable[1], existing)
            else _cannot_run(goes_on(status), judged, next_, question, *unable, now)
        )
        status, more = check_logs.keep(judged.checks, stopped.status, existing)
        new = cached.to_keep(question, judged, known, seen)
        return replace(stopped, status=status, actions=(*logs, *more, *new, *ended))
    start = verdicts.to_start(_paid(seen, question, judged), existing, now, gates)
    if start:
        stays = verdicts.seconds_of_round(checks, gates)
        asked = (replace(run, stays=stays) for run in start)
        start = tuple(cached.with_base(run, question, judged) for run in asked)
    out = outstanding(judged.outstanding, existing.values(), checks, known, now)
    judged = judged.model_copy(update={"outstanding": out})
    status = status.model_copy(update={"verification": judged})
    status = rerun.waits_at_work(status, judged, existing, now)
    unpaid = _unpaid(seen, question, judged)
    if not start and unpaid and _all_over(existing, now):
        status = waits(goes_on(status), Reason.BUDGET_EXCEEDED, unpaid, now, needs_person=True)
    return Undecided(status, (*logs, *ended, *start), LOOK_AGAIN_SECONDS if existing else None)


def _answered(
    judged: Verification, existing: Mapping[str, JobView], now: datetime
) -> frozenset[str]:
    """See `verdicts.answered`."""
    tested = judged.written.check if judged.written is not None else None
    return verdicts.answered(existing, now, judged.abandoned, tested)


def _paid(seen: Look, question: Question, judged: Verification) -> dict[str, RunAnswers]:
    """The Jobs that there is money for: those that are there go on."""
    if not _unpaid(seen, question, judged):
        return seen.runs
    return {c: r for c, r in seen.runs.items() if c in seen.existing or not is_judge(c)}


def _unpaid(seen: Look, question: Question, judged: Verification) -> str:
    """Why a model that is to be asked may not be, in words; "": none is, or there is money."""
    new = [r for c, r in seen.runs.items() if isinstance(r, RunJudge) and c not in seen.existing]
    lacked = judged.too_little_usd
    if not new or question.unpaid or lacked is None:
        return question.unpaid if new else ""
    if any(run.dollars is None or Decimal(run.dollars) > Decimal(lacked) for run in new):
        return ""
    return f"a model is to be asked of its work, and may cost more than the ${lacked} that are left"


def _all_over(existing: Mapping[str, JobView], now: datetime) -> bool:
    return all(runs.is_over(job, now) for job in existing.values())


def unseen(
    status: Judged, question: Question, jobs: Mapping[str, JobView], now: datetime
) -> tuple[RunFence, ...]:
    """Fences for the Jobs of this round that may have been asked for, and that nobody sees yet."""
    judged = status.verification
    if judged is None or judged.passed is not None or judged.lost:
        return ()
    seen = look(question, cached.unknown(judged), jobs, now)
    runs = seen.runs
    # What is to be tried again was not asked for yet.
    if is_held(status) and not tries_again(status):
        runs = {c: run for c, run in runs.items() if rerun.round_of(judged, c) < judged.round}
    asked = verdicts.to_start(runs, seen.existing, now, question.project.spec.gates)
    return tuple(RunFence(run.job) for run in asked)


def again(status: S, judged: Verification) -> S:
    """The status in which `judged` is to be judged by the Jobs of a new round."""
    return goes_on(status.model_copy(update={"verification": judged}))


def next_round(judged: Verification) -> Verification:
    """The same tree, to be judged by new Jobs; old verdicts are shown until there are new ones."""
    anew = dict.fromkeys(("abandoned", "policy", "since", "again", "outstanding"))
    update = {"round": judged.round + 1, **anew}
    return judged.model_copy(update=update)


def afresh(judged: Verification) -> Verification:
    """The same tree, to be judged by new Jobs as if it had never been judged."""
    told = ("passed", "verified_at", "digest", "quality_score", "written")
    gone = dict.fromkeys((*told, "too_little_usd", "heard"))
    update: dict[str, object] = {**gone, "checks": ()}
    return next_round(judged).model_copy(update=update)


def _is_over(status: Judged) -> bool:
    """Too often the checks could not run: only a change of the Project lets them run again."""
    return status.gate_errors > MAX_GATE_ERRORS


def is_of_base(status: Judged) -> bool:
    """It was told that its base fails, too: by itself nothing is judged again."""
    return status.waiting is not None and status.waiting.reason == Reason.BASE_FAILS


def _is_endless(judged: Verification) -> bool:
    """Something never settles: the checks of this tree were begun too often."""
    return _times(judged) >= MAX_ROUNDS


def _endless(status: S, project: Project, now: datetime) -> S:
    """Held until the Project changes."""
    return held(status, Reason.GATE_ERRORED, ENDLESS, project, now, None)


def _resumed(status: S, judged: Verification) -> tuple[S, Verification]:
    """The status of what is judged again; what was counted too often is counted anew."""
    if _is_endless(judged):
        judged = judged.model_copy(update={"first_round": judged.round})
    errors = 0 if _is_over(status) else status.gate_errors
    update: dict[str, object] = {"gate_errors": errors, "verification": judged}
    return status.model_copy(update=update), judged


def _judge(
    status: S,
    judged: Verification,
    question: Question,
    results: tuple[CheckResult, ...],
    works: Mapping[str, CheckResult],
    answered: frozenset[str],
    now: datetime,
) -> RoundState[S]:
    rejected, errored = summary.rejected(results), summary.errored(results)
    if summary.ran_out_of_memory(rejected) and not judged.out_of_memory:
        once = next_round(judged).model_copy(update={"out_of_memory": True})
        return Undecided(again(status, once))
    over = {
        "checks": results,
        "quality_score": score(results),
        **dict.fromkeys(("abandoned", "outstanding", "too_little_usd", "heard")),
    }
    before, judged = judged, judged.model_copy(update=over)
    if errored and not rejected:
        lost = [r for r in errored if question.can_be_made_anew and r.reason in LOST]
        first = (lost or errored)[0]
        why = Diagnosis(first.reason, without_quotes(first.excerpt, _SAYS_MORE))
        if lost:
            return Lost(status.model_copy(update={"verification": judged}), why)
        to_run = rerun.could_not_run(question.checks, results, works)
        if policy(first.reason).retry is Retry.SOON:
            to_run -= answered
        next_ = rerun.next_try(before, question.checks, results, works, to_run)
        if first.reason == Reason.BUDGET_EXCEEDED and before.too_little_usd is not None:
            return Undecided(again(status, next_))  # it waits, for the Plan's budget to grow
        return _cannot_run(status, before, next_, question, errored[0].name, why, now)
    if summary.base_failures(results):
        return _stands_still(status, judged, question.project, now)
    if not summary.passed(results):
        judged = judged.model_copy(update={"passed": False})
        status = status.model_copy(update={"verification": judged})
        reason, text = summary.reason(results), cut(summary.which(results), _WHICH)
        return Rejected(note(status, ConditionType.VERIFIED, False, reason, text, now), results)
    digest = summary.digest(judged.base, judged.sha, judged.tree, results)
    passed = {"passed": True, "digest": digest, "verified_at": now}
    judged = judged.model_copy(update=passed)
    status = status.model_copy(update={"verification": judged, "gate_errors": 0})
    text = f"{count(sum(r.verdict == 'Passed' for r in results), 'check')} passed"
    if bypassed := summary.without(results):
        text = cut(f"{text}; bypassed: {bypassed}", _WHICH)
    return Passed(note(status, ConditionType.VERIFIED, True, "ChecksPassed", text, now))


def _stands_still(status: S, judged: Verification, project: Project, now: datetime) -> CannotRun[S]:
    """No attempt can pass what the base does not."""
    status = status.model_copy(update={"verification": next_round(judged)})
    status, text = fails_on_base(status, project, now), told_of_base(judged)
    return CannotRun(note(status, ConditionType.VERIFIED, False, Reason.BASE_FAILS, text, now))


def fails_on_base(status: S, project: Project, now: datetime) -> S:
    """Held until the Project changes: a check that fails on the base tells nothing of the work."""
    assert status.verification is not None
    text = told_of_base(status.verification)
    return held(status, Reason.BASE_FAILS, text, project, now, None)


def told_of_base(judged: Verification) -> str:
    """Which checks fail on the base, in words."""
    which = ", ".join(f"'{result.title}'" for result in summary.base_failures(judged.checks))
    return f"{which} fails on the commit before this work, so that it tells nothing of the work"


def _cannot_run(
    status: S,
    judged: Verification,
    next_: Verification,
    question: Question,
    check: str,
    why: Diagnosis,
    now: datetime,
) -> CannotRun[S]:
    """What could not run is run again, in the round `next_`: at once, after a while, or when the
    Project has changed."""
    project, checks = question.project, question.checks
    text = remedies.told(check, checks, why, project)
    is_soon = policy(why.reason).retry is Retry.SOON
    if is_soon or policy(why.reason).holds is WaitScope.REPOSITORY:
        # Nothing ran, so it is no loop that costs more than the tries.
        times, errors = _times(judged) + 1, status.gate_errors
        next_ = rerun.counting_few(judged, next_)
    else:
        times = errors = status.gate_errors + 1
    status = status.model_copy(update={"gate_errors": errors, "verification": next_})
    alone = seconds_to_next_try(why.reason, why.message, times, project) if is_soon else None
    beside = (question.crowd, question.resting)
    wait = seconds_to_next_try(why.reason, why.message, times, project, *beside)
    if wait or _is_over(status):
        mends = policy(why.reason).retry in (Retry.BACK_OFF, Retry.LATER)
        mends_itself = mends and not _is_over(status)
        status = held(
            status,
            Reason.GATE_ERRORED,
            text,
            project,
            now,
            None if _is_over(status) else wait,
            alone=alone,
            needs_person=not mends_itself,
            remedy=remedies.remedy(text, check, checks, why.reason, project),
        )
    return CannotRun(note(status, ConditionType.VERIFIED, False, Reason.GATE_ERRORED, text, now))
