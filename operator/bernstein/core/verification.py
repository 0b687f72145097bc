"""The janitor and the gates: which Jobs must run, and what their verdicts mean for the Task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bernstein.api.plan import PlanVerification
from bernstein.api.session import Outcome, Work
from bernstein.api.task import CheckResult, Task, TaskStatus, Verification
from bernstein.core import checks, holds, landing, names, reports
from bernstein.core.checks import INSPECT, CheckSpec, Subject
from bernstein.core.errors import (
    MAX_GATE_ERRORS,
    MAX_ROUNDS,
    PROBE_SECONDS,
    Retry,
    back_off_seconds,
    policy,
)
from bernstein.core.intents import Intent, RunCheck, RunInspect, TaskSnapshot, give_up
from bernstein.core.pods import Diagnosis, JobView
from bernstein.core.progress import busy, note, stalled
from bernstein.core.remedies import with_remedy


@dataclass(frozen=True)
class Step:
    status: TaskStatus
    intents: tuple[Intent, ...] = ()
    requeue_after: float | None = None
    rejected: tuple[str, str] | None = None
    """(reason, what the next attempt is told) when a required check said no."""


def change_problem(task: Task, outcome: Outcome, work: Work) -> tuple[str, str] | None:
    """Whether the size of the change alone contradicts the step."""
    changed = work.sha != work.base
    if task.spec.changes == "none":
        if changed:
            text = f"the step says `changes: none`, but {work.files_changed} files changed"
            return "UnexpectedChanges", text
        return None
    if changed or (outcome.no_change and task.spec.completion_signals):
        return None
    return "EmptyDiff", "the agent reported success, but no file changed"


def specs_of(snapshot: TaskSnapshot, judged: Verification) -> tuple[CheckSpec, ...]:
    """Every check that the Task and its Project ask for, on this change."""
    assert snapshot.project is not None
    subject = Subject(
        any_changed=judged.sha != judged.base,
        python_changed=judged.python_changed,
        tests_changed=judged.tests_changed,
        deps_changed=judged.deps_changed,
    )
    return checks.plan_checks(snapshot.task.spec.completion_signals, snapshot.project.spec, subject)


def verify(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Step:
    """One look at the checks of a Done Task that is not verified yet."""
    judged = status.verification
    assert judged is not None
    if status.hold is not None:
        left, over = holds.seconds_left(status.hold, snapshot.project, now), _is_over(status)
        if over and not holds.is_mended(status.hold, snapshot.project):
            return Step(status)
        if left is not None:
            return Step(status, (), left)
        errors = 0 if over else status.gate_errors
        status = status.model_copy(update={"gate_errors": errors, "hold": None})
        status = busy(status, "Verifying", "the checks are run again", now)
    if judged.round >= MAX_ROUNDS:
        return Step(stalled(status, "GateErrored", with_remedy(ENDLESS, "GateErrored"), now))
    specs = specs_of(snapshot, judged)
    wanted = _intents(snapshot, status, judged, specs)
    jobs = found(wanted, snapshot.jobs)
    if is_outdated(wanted, jobs):
        again = judged.model_copy(update={"round": judged.round + 1})
        status = status.model_copy(update={"verification": again})
        status = busy(status, "Verifying", "the Project's checks have changed", now)
        return Step(status, give_up(jobs.values()))
    assert snapshot.project is not None
    gates = snapshot.project.spec.gates
    results = checks.verdicts(specs, jobs, now, gates)
    if results is not None:
        step = _judge(snapshot, status, judged, results, now)
        seen, kept = reports.keep(judged.checks, step.status, jobs)
        return replace(step, status=seen, intents=(*kept, *give_up(jobs.values())))
    stuck = checks.stuck(jobs, now)
    if stuck is not None:
        check, why = stuck
        step = _cannot_run(snapshot, status, check, why, now)
        return replace(step, intents=give_up(jobs.values()))
    return Step(status, checks.to_start(specs, wanted, jobs, now, gates), 5 if jobs else None)


def _is_over(status: TaskStatus) -> bool:
    """The checks could not run too often: only a change of the Project lets them run again."""
    return status.gate_errors > MAX_GATE_ERRORS


ENDLESS = (
    f"the checks were run {MAX_ROUNDS} times without an end: "
    "are the CRDs of the cluster as new as the operator?"
)

Wanted = Mapping[str, RunCheck | RunInspect]


def found(wanted: Wanted, jobs: Mapping[str, JobView]) -> dict[str, JobView]:
    """The Jobs of these that there are, by check."""
    return {c: jobs[intent.job] for c, intent in wanted.items() if intent.job in jobs}


def is_outdated(wanted: Wanted, jobs: Mapping[str, JobView]) -> bool:
    """Whether a Job was asked something else than is asked now."""
    return any(
        job.labels.get(names.LABEL_ASKED, wanted[check].asked) != wanted[check].asked
        for check, job in jobs.items()
    )


def _intents(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, specs: tuple[CheckSpec, ...]
) -> dict[str, RunCheck | RunInspect]:
    pinned = snapshot.plan.status.integration if snapshot.plan else None
    return wanted_jobs(
        status.session or snapshot.task.metadata.name,
        judged,
        specs,
        pinned_sha=pinned.target_sha if pinned else judged.base,
        onto=landing.ref_of(snapshot),
    )


def wanted_jobs(
    subject: str,
    judged: Verification | PlanVerification,
    specs: tuple[CheckSpec, ...],
    *,
    pinned_sha: str,
    onto: str,
) -> dict[str, RunCheck | RunInspect]:
    """The Jobs that judge this tree, by check."""
    wanted: dict[str, RunCheck | RunInspect] = {
        spec.name: RunCheck(
            job=names.check_job(subject, spec.name, judged.round),
            check=spec,
            ref=judged.ref,
            sha=judged.sha,
            pinned_sha=pinned_sha,
        )
        for spec in checks.executing(specs)
    }
    reading = tuple(checks.reading(specs))
    if reading:
        wanted[INSPECT] = RunInspect(
            job=names.check_job(subject, INSPECT, judged.round),
            checks=reading,
            ref=judged.ref,
            sha=judged.sha,
            base=judged.base,
            onto=onto,
        )
    return wanted


def _cannot_run(
    snapshot: TaskSnapshot, status: TaskStatus, check: str, why: Diagnosis, now: datetime
) -> Step:
    """The checks are run again: at once, after a while, or when the Project has changed."""
    assert status.verification is not None
    assert snapshot.project is not None
    text = f"'{check}' could not run: {why.reason}: {why.message}"
    errors = status.gate_errors + 1
    again = status.verification.model_copy(update={"round": status.verification.round + 1})
    status = status.model_copy(update={"gate_errors": errors, "verification": again})
    status = note(status, "Verified", False, "GateErrored", text, now)
    wait = retry_seconds(why.reason, errors)
    if not wait and not _is_over(status):
        return Step(status)
    held = holds.hold("GateErrored", text, snapshot.project, now, wait)
    status = status.model_copy(update={"hold": held})
    return Step(stalled(status, "GateErrored", with_remedy(text, "GateErrored"), now))


def retry_seconds(reason: str, errors: int) -> int:
    """How long to wait before the `errors`-th repetition of checks that could not run."""
    match policy(reason).retry:
        case Retry.AT_ONCE:
            return 0
        case Retry.BACK_OFF:
            return back_off_seconds(errors - 1)
        case _:
            return PROBE_SECONDS


def _judge(
    snapshot: TaskSnapshot,
    status: TaskStatus,
    judged: Verification,
    results: tuple[CheckResult, ...],
    now: datetime,
) -> Step:
    seen = judged.model_copy(update={"checks": results})
    status = status.model_copy(update={"verification": seen})
    rejected = checks.rejected(results)
    if checks.ran_out_of_memory(rejected) and not judged.out_of_memory:
        update = {"round": judged.round + 1, "out_of_memory": True}
        status = status.model_copy(update={"verification": judged.model_copy(update=update)})
        return Step(busy(status, "Verifying", "a check ran out of memory; once more", now))
    if rejected:
        reason = "SignalFailed" if any(r.kind == "signal" for r in rejected) else "GateFailed"
        failed = status.model_copy(
            update={"verification": seen.model_copy(update={"passed": False})}
        )
        which = ", ".join(f"{r.title} ({r.verdict})" for r in rejected)
        failed = note(failed, "Verified", False, reason, which[:1000], now)
        return Step(failed, rejected=(reason, checks.feedback(results)))
    errors = checks.errored(results)
    if errors:
        first = errors[0]
        why = Diagnosis(first.reason, first.excerpt)
        return _cannot_run(snapshot, status, first.name, why, now)
    passed = seen.model_copy(
        update={
            "passed": True,
            "digest": checks.digest(seen.base, seen.sha, seen.tree, results),
        }
    )
    status = status.model_copy(update={"verification": passed, "feedback": None, "gate_errors": 0})
    count = sum(r.verdict == "Passed" for r in results)
    return Step(note(status, "Verified", True, "ChecksPassed", f"{count} checks passed", now))
