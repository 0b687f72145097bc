"""From the Jobs of checks to verdicts: which may start, and what the end of each pod means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from bernstein.api.encoding import load
from bernstein.api.pod import CHECKOUT, EXCERPT_CHARACTERS, INSPECT, JUDGE, InspectResult
from bernstein.api.programs.judge import JudgeResult
from bernstein.api.projects.gates import Gates
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.verification import AbandonedCheck, CheckResult
from bernstein.api.waiting import Abandoned
from bernstein.checks.spec import SIGNAL, CheckSpec
from bernstein.core import diagnosis, names, pods, runs
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.sanitise import text as sanitise
from bernstein.core.sanitise import within
from bernstein.core.verification import base, models
from bernstein.core.verification.executed import SLACK, errored, executed, ran, result_of, unstarted
from bernstein.core.verification.expected.required import executing
from bernstein.core.verification.inspections import is_inspection, is_judge, shared, writer
from bernstein.core.verification.summary import passed

EXCERPT_BYTES = 24_000
"""Of all excerpts of a status together: where many checks have something to say, each says less."""

OURS = (Reason.INFRASTRUCTURE_ERROR, "InternalError", "TooSlow")
"""A program of ours broke, or took too long: one that was cut off from outside says so."""

_RESULTS: Mapping[str, type[InspectResult | JudgeResult]] = {
    INSPECT: InspectResult,
    JUDGE: JudgeResult,
}

START_SECONDS = 300
"""Seconds that a pod may take beyond the check's own time: to pull images, check out and start."""

Asked = TypeVar("Asked")
Abandonments = tuple[AbandonedCheck, ...] | None


def to_start(
    asked: Mapping[str, Asked],
    jobs: Mapping[str, JobView],
    now: datetime,
    gates: Gates,
) -> tuple[Asked, ...]:
    """Those of `asked`, by check and in order, whose Jobs may be made now."""
    missing = [check for check in asked if check not in jobs]
    running = sum(not runs.is_over(job, now) or runs.is_fence(job) for job in jobs.values())
    if gates.execution == "Sequential":
        janitors = [check for check in missing if _is_janitors(check)]
        missing = janitors or missing[: 0 if running else 1]
    return tuple(asked[check] for check in missing[: max(0, gates.max_parallel - running)])


def seconds_of_round(checks: Iterable[CheckSpec], gates: Gates) -> int:
    """How long the checks of a tree may take together, where their pods find room.

    Each is asked of the work, and maybe of the base. The verdict of one is recorded with those of
    all others, and so is its log kept: until then its Job must be there, or it runs once more.
    """
    each = [2 * _longest(check) for check in checks if check.skipped is None]
    longest, places = max(each, default=0), gates.max_parallel
    if gates.execution == "Sequential":
        return sum(each)
    if len(each) <= places:
        return longest
    # When one of them is free, the next one starts: so the last one starts after no more than that.
    return sum(each) // places + longest


def _longest(check: CheckSpec) -> int:
    """Seconds of one of its Jobs: where it may be asked twice of two trees, each is of both."""
    trees = 2 if check.against_base and check.excused else 1
    return trees * check.timeout + START_SECONDS


def _is_janitors(check: str) -> bool:
    """Whether it is a completion signal, or a Job that answers for the signals, too."""
    return is_inspection(check) or is_judge(check) or check.startswith(SIGNAL)


def abandon(
    checks: Iterable[CheckSpec],
    before: Abandonments,
    jobs: Mapping[str, JobView],
    now: datetime,
) -> Abandonments:
    """Every check that is not to be waited for any more, and why; None: there is none.

    `jobs`: by name of the check. Their pods are to be ended; how each ended is read afterwards.
    """
    known, limits = {a.check for a in before or ()}, {c.name: c.timeout for c in checks}
    room = _room(len(limits))
    limits |= {names.on_base(name): seconds for name, seconds in limits.items()}
    new = []
    for check, job in jobs.items():
        problem = _to_abandon(job, limits.get(check), now) if check not in known else None
        if problem is not None:
            text = within(sanitise(problem.message, EXCERPT_CHARACTERS), room)
            new.append(AbandonedCheck(check=check, reason=problem.reason, message=text))
    return (*(before or ()), *new) or None


def _to_abandon(job: JobView, limit: float | None, now: datetime) -> Diagnosis | None:
    if job.refused is not None:
        return Diagnosis(Reason.POD_REJECTED, job.refused)
    if runs.state(job, now) not in (runs.State.SEEN, runs.State.RUNNING):
        return None
    since = job.running_since
    if limit is not None and since is not None and (now - since).total_seconds() > limit + SLACK:
        return Diagnosis(Reason.TIMEOUT, f"not done after {limit} s")
    return diagnosis.to_abandon(job, now)


def unable(
    checks: Iterable[CheckSpec],
    jobs: Mapping[str, JobView],
    now: datetime,
    abandoned: Abandonments = None,
) -> tuple[str, Diagnosis] | None:
    """A required check that could not begin, and why. None: there is none."""
    checks = tuple(checks)
    required = {c.name for c in checks if c.required and c.executes}
    for called, together in shared(checks).items():
        if any(check.required for check in together):
            required.add(called)
    for check, job in jobs.items():
        if check in required and runs.is_over(job, now):
            problem = unstarted(_find(abandoned, check))
            if problem is not None:
                return check, problem
    return None


def answered(
    jobs: Mapping[str, JobView],
    now: datetime,
    abandoned: Abandonments = None,
    tested: str | None = None,
) -> frozenset[str]:
    """What was paid for, as its Jobs are called: models that were asked to the end, and what has
    run the test that one of them has written. While another check cannot begin, which is tried as
    often as it takes, they are not run again with it. `tested`: the check that has such a test."""
    over = {called for called, job in jobs.items() if runs.is_over(job, now)}
    begun = {called for called in over if _find(abandoned, called) is None}
    judges = {called for called in begun if is_judge(called)}
    if tested is None:
        return frozenset(judges)
    return frozenset({*judges, writer(tested), *begun.intersection((tested,))})


def _find(abandoned: Abandonments, check: str) -> Abandoned | None:
    return next((a for a in abandoned or () if a.check == check), None)


def so_far(
    checks: Iterable[CheckSpec],
    jobs: Mapping[str, JobView],
    now: datetime,
    gates: Gates,
    abandoned: Abandonments = None,
    *,
    works: Mapping[str, CheckResult] | None = None,
    kept: Mapping[str, CheckResult] | None = None,
    again: Collection[str] = (),
) -> tuple[CheckResult | None, ...]:
    """The verdict of each check, in order; None where its run is not over.

    `jobs`: by name of the check. `works`: see `of_works`; None: it is not worked out yet. `kept`:
    verdicts that are known whatever the Jobs say, by check. `again`: what could not judge this
    tree before, and may not for the work's doing: checks that execute, and Jobs that read.
    """
    in_turn = gates.execution == "Sequential"
    results: list[CheckResult | None] = []
    checks, kept = tuple(checks), kept or {}
    if works is None:
        works = of_works(checks, jobs, abandoned, now)
    answered: dict[str, Judge | None] = {}
    for called, together in shared(checks).items():
        judge = _shared(
            *(called, jobs.get(called), _find(abandoned, called), now), again=called in again
        )
        answered |= dict.fromkeys((check.name for check in together), judge)
    for check in checks:
        if check.name in kept:
            results.append(kept[check.name])
        elif check.skipped is not None:
            results.append(result_of(check, "Skipped", check.skipped))
        elif check.asks is not None and not check.asks.model:
            results.append(models.without_model(check))
        elif not check.executes:
            judge = answered[check.name]
            results.append(judge(check) if judge is not None else None)
        elif check.name not in jobs and in_turn and not passed(filter(None, results)):
            results.append(result_of(check, "Skipped", VerdictReason.NOT_REACHED))
        else:
            work, is_again = works.get(check.name), check.name in again
            results.append(_counting(check, work, jobs, abandoned, now, is_again))
    room = _room(sum(bool(result and result.excerpt) for result in results))
    return tuple(result and _within(result, room) for result in results)


def complete(results: Sequence[CheckResult | None]) -> tuple[CheckResult, ...] | None:
    """The verdicts of all checks, once there is each; None before."""
    there = tuple(result for result in results if result is not None)
    return there if len(there) == len(results) else None


def _within(result: CheckResult, room: int) -> CheckResult:
    return result.model_copy(update={"excerpt": within(result.excerpt, room)})


def of_works(
    checks: Iterable[CheckSpec],
    jobs: Mapping[str, JobView],
    abandoned: Abandonments,
    now: datetime,
) -> dict[str, CheckResult]:
    """What the commands whose runs are over say of the work alone, by check."""
    run = executing(checks)
    found = ((c.name, of_work(c, jobs.get(c.name), abandoned, now)) for c in run)
    return {name: result for name, result in found if result is not None}


def of_work(
    check: CheckSpec, job: JobView | None, abandoned: Abandonments, now: datetime
) -> CheckResult | None:
    """The verdict on the work alone of a check that executes; None until its run is over."""
    if job is None or not runs.is_over(job, now):
        return None
    told = base.told_of_both if check.against_base else executed
    return told(check, job, _find(abandoned, check.name), now)


def _counting(
    check: CheckSpec,
    work: CheckResult | None,
    jobs: Mapping[str, JobView],
    abandoned: Abandonments,
    now: datetime,
    again: bool,
) -> CheckResult | None:
    """The verdict, in the light of the base where that is asked; None until all of it is there."""
    if work is None or not base.is_asked(check, work, again=again):
        return work and _blamed(check, work, again)
    called = names.on_base(check.name)
    job = jobs.get(called)
    if job is None or not runs.is_over(job, now):
        return None
    result = base.judged_by_base(check, work, job, _find(abandoned, called), now)
    # A comparison reads what the work left, too; any other run on the base does not.
    return _blamed(check, result, again) if base.compares(check, work) else result


def _blamed(check: CheckSpec, result: CheckResult, again: bool) -> CheckResult:
    """The verdict that counts where a program of ours has failed on what the work left, and did so
    before: once it may be the cluster's doing."""
    if not again or result.verdict != "Errored" or result.reason not in OURS:
        return result
    text = f"for the second time it could not be read: {result.excerpt}"
    return result_of(check, "Failed", VerdictReason.UNREADABLE, text)


def _room(texts: int) -> int:
    """Bytes for each of so many texts of checks in a status."""
    return EXCERPT_BYTES // max(1, texts)


Judge = Callable[[CheckSpec], CheckResult]


def _shared(
    called: str, job: JobView | None, abandoned: Abandoned | None, now: datetime, *, again: bool
) -> Judge | None:
    """What gives each check its verdict from the Job that it shares; None until that run is
    over."""
    if job is None or not runs.is_over(job, now):
        return None
    program = JUDGE if is_judge(called) else INSPECT
    problem = unstarted(abandoned) or _problem(job, program, now)
    if problem is not None:
        return lambda check: _blamed(check, errored(check, problem), again)
    ended = pods.terminated(job.pod or {}, program) or {}
    try:
        told = load(_RESULTS[program], ended.get("message") or "")
        answers = {v.name: v for v in told.verdicts}
    except ValueError as error:
        text = str(error)
        return lambda check: result_of(check, "Errored", VerdictReason.NO_VERDICT, text)

    def judge(check: CheckSpec) -> CheckResult:
        answer = answers.get(check.name)
        if answer is None:
            text = f"the {program} Job said nothing of it"
            return result_of(check, "Errored", VerdictReason.NO_VERDICT, text)
        if check.test == "" and answer.verdict != "Errored":
            # What is written is run: its writer alone lets nothing on, whatever he says.
            text = f"the {program} Job left no test that can be read"
            return result_of(check, "Errored", VerdictReason.NO_VERDICT, text)
        result = result_of(check, answer.verdict, answer.reason, answer.excerpt)
        result = ran(result, job.pod or {}, program)
        return _blamed(check, models.decided(check, result), again)

    return judge


def _problem(job: JobView, program: str, now: datetime) -> Diagnosis | None:
    without_end = diagnosis.without_end(job, now)
    if without_end is not None:
        return without_end
    assert job.pod is not None
    problem = diagnosis.failure_of(job.pod, CHECKOUT) or diagnosis.failure_of(job.pod, program)
    if problem is not None and pods.is_disrupted(job.pod):
        return Diagnosis(Reason.DISRUPTED, "the pod was disrupted")
    if problem is None and pods.reason(job.pod):
        return Diagnosis(pods.reason(job.pod), f"the {program} pod did not finish")
    return problem
