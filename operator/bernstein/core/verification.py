"""The janitor and the gates: which Jobs must run, and what their verdicts mean for the Task."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bernstein.api.plan import PlanVerification
from bernstein.api.session import Outcome, Work
from bernstein.api.task import CheckResult, Hold, Task, TaskStatus, Verification
from bernstein.core import checks, landing, names, pods
from bernstein.core.checks import INSPECT, CheckSpec, Subject
from bernstein.core.errors import MAX_GATE_ERRORS, policy
from bernstein.core.intents import Intent, RunCheck, RunInspect, TaskSnapshot
from bernstein.core.pods import JobView
from bernstein.core.progress import busy, note, stalled


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
    if status.gate_errors > MAX_GATE_ERRORS:
        if not _project_changed(snapshot, status):
            return Step(status)
        status = status.model_copy(update={"gate_errors": 0, "hold": None})
        status = busy(status, "Verifying", "the Project has changed", now)
    specs = specs_of(snapshot, judged)
    wanted = _intents(snapshot, status, judged, specs)
    jobs = {
        check: job
        for check, intent in wanted.items()
        if (job := snapshot.jobs.get(intent.job)) is not None
    }
    results = checks.verdicts(specs, jobs)
    if results is None:
        missing = tuple(intent for check, intent in wanted.items() if check not in jobs)
        stuck = _stuck(snapshot, status, jobs, now)
        return stuck or Step(status, missing, 5 if jobs else None)
    return _judge(snapshot, status, judged, results, now)


def _project_changed(snapshot: TaskSnapshot, status: TaskStatus) -> bool:
    """Since the last check that could not run: the cause may be mended."""
    assert snapshot.project is not None
    hold = status.hold
    return hold is not None and hold.generation != snapshot.project.metadata.generation


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


def _stuck(
    snapshot: TaskSnapshot, status: TaskStatus, jobs: dict[str, JobView], now: datetime
) -> Step | None:
    """A check whose pod cannot start is a gate that cannot run."""
    for check, job in jobs.items():
        problem = pods.diagnose_waiting(job, now) if not job.ended else None
        if problem is not None:
            text = f"'{check}' could not run: {problem.reason}: {problem.message}"
            return _cannot_run(snapshot, status, text, now)
    return None


def _cannot_run(snapshot: TaskSnapshot, status: TaskStatus, text: str, now: datetime) -> Step:
    assert status.verification is not None
    assert snapshot.project is not None
    errors = status.gate_errors + 1
    again = status.verification.model_copy(update={"round": status.verification.round + 1})
    status = status.model_copy(update={"gate_errors": errors, "verification": again})
    if errors <= MAX_GATE_ERRORS:
        return Step(note(status, "Verified", False, "GateErrored", text, now))
    remedy = policy("GateErrored").remedy
    generation = snapshot.project.metadata.generation
    hold = Hold(reason="GateErrored", message=text[:2000], retry_at=now, generation=generation)
    status = note(status, "Verified", False, "GateErrored", text, now)
    status = status.model_copy(update={"hold": hold})
    return Step(stalled(status, "GateErrored", f"{text}. Remedy: {remedy}", now))


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
        text = f"'{first.name}' could not run: {first.reason}: {first.excerpt}"
        return _cannot_run(snapshot, status, text, now)
    passed = seen.model_copy(
        update={
            "passed": True,
            "digest": checks.digest(seen.base, seen.sha, seen.tree, results),
        }
    )
    status = status.model_copy(update={"verification": passed, "feedback": None, "gate_errors": 0})
    count = sum(r.verdict == "Passed" for r in results)
    return Step(note(status, "Verified", True, "ChecksPassed", f"{count} checks passed", now))
