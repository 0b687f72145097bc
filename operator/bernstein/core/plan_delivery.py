"""Delivery of a Plan: the integration ref onto the target branch."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bernstein.api.plan import PlanStatus, PlanVerification
from bernstein.api.pod import LandResult, PrepareResult, load
from bernstein.api.signals import Signal
from bernstein.api.task import CheckResult, Delivery, Hold, Task
from bernstein.core import checks, names
from bernstein.core.checks import CheckSpec, Subject
from bernstein.core.delivery import end_of, given_up, may_have_landed
from bernstein.core.errors import PROBE_SECONDS, policy
from bernstein.core.intents import PlanDecision, PlanSnapshot, RunLand, RunPrepare
from bernstein.core.merge import may_merge
from bernstein.core.pods import Diagnosis
from bernstein.core.progress import busy, ended, stalled
from bernstein.core.sanitise import text as sanitise
from bernstein.core.verification import wanted_jobs

_NEVER = datetime.min.replace(tzinfo=UTC)


def has_started(status: PlanStatus) -> bool:
    """A land Job may be at work: too late to cancel."""
    return status.delivery is not None and status.delivery.step == "Landing"


def deliver(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step of a Plan whose Tasks are all Closed."""
    hold = status.hold
    project = snapshot.project
    same = (
        hold is not None and project is not None and hold.generation == project.metadata.generation
    )
    if hold is not None and same and now < hold.retry_at:
        return PlanDecision(status, (), (hold.retry_at - now).total_seconds())
    last = _last_landed(snapshot)
    if last is None:
        return PlanDecision(_succeeded(status, Delivery(state="NoChange", onto=_onto(status)), now))
    if status.delivery is not None and status.delivery.step == "Preparing":
        return _prepare(snapshot, status, last, now)
    if status.verification is not None and status.verification.passed is not True:
        return _verify(snapshot, status, now)
    return _land(snapshot, status, last, now)


def _last_landed(snapshot: PlanSnapshot) -> Task | None:
    """The Task whose commit is the tip: no other one was made on it; clocks may jump."""
    landed = [
        t
        for t in snapshot.tasks.values()
        if t.status.delivery is not None and t.status.delivery.state == "Merged"
    ]
    bases = {t.status.verification.base for t in landed if t.status.verification is not None}
    tips = [t for t in landed if t.status.delivery and t.status.delivery.sha not in bases]
    return max(tips, key=_landed_at, default=None)


def _landed_at(task: Task) -> datetime:
    return (task.status.delivery and task.status.delivery.landed_at) or _NEVER


def _onto(status: PlanStatus) -> str:
    assert status.integration is not None
    return status.integration.target


def _step(status: PlanStatus, step: str, now: datetime) -> tuple[PlanStatus, Delivery]:
    old = status.delivery or Delivery(state="Pending", onto=_onto(status))
    if old.step == step:
        return status, old
    number = status.jobs + 1
    new = old.model_copy(update={"state": "Pending", "step": step, "round": number})
    text = "the result is being merged" if step == "Landing" else "a candidate is being made"
    status = status.model_copy(update={"delivery": new, "jobs": number, "hold": None})
    return busy(status, step, text, now), new


def _land(snapshot: PlanSnapshot, status: PlanStatus, last: Task, now: datetime) -> PlanDecision:
    """Asks may_merge about the tree: the last Task's verification is of exactly this tree."""
    candidate = status.verification
    landed = last.status.delivery
    assert landed is not None
    assert status.integration is not None
    if candidate is not None:
        judged, sha, tree = candidate, candidate.sha, candidate.tree
        expect, ref = candidate.base, candidate.ref
        may = may_merge(judged, sha=sha, tree=tree, expected=_names(_specs(snapshot)))
    else:
        sha, tree = landed.sha or "", landed.tree or ""
        expect, ref = status.integration.target_sha, status.integration.ref
        may = may_merge(last.status.verification, sha=sha, tree=tree, expected=())
    begins = not has_started(status)
    again = _to_judge(snapshot, status, last) if begins else None
    if again is not None:
        status = status.model_copy(update={"verification": again})
        return PlanDecision(busy(status, "Verifying", "the Project's checks have changed", now))
    if begins and not may:
        text = "the tree on the integration ref is not the one that was verified"
        return PlanDecision(stalled(status, "VerificationMissing", text, now))
    status, step = _step(status, "Landing", now)
    if begins:
        # Written before there is a Job: whatever crashes, a cancel sees that it is too late.
        return PlanDecision(status)
    name = names.check_job(snapshot.plan.metadata.name, "land", step.round)
    job = snapshot.jobs.get(name)
    if job is None:
        wanted = RunLand(name, ref, sha, tree, _onto(status), expect)
        return PlanDecision(status, (wanted,))
    end = end_of(job, "land", now)
    if end is None:
        return PlanDecision(status, (), 5)
    try:
        problem = end if isinstance(end, Diagnosis) else None
        result = load(LandResult, end) if isinstance(end, str) else None
    except ValueError as error:
        problem, result = Diagnosis("InfrastructureError", f"land left no result: {error}"), None
    if problem is not None or result is None:
        assert problem is not None
        unsure = may_have_landed(job, problem)
        failed = _failed(snapshot, status, step, problem, now, unsure=unsure)
        return PlanDecision(failed, given_up(job))
    if result.state == "Landed":
        merged = step.model_copy(
            update={
                "state": "Merged",
                "step": None,
                "sha": sha,
                "tree": tree,
                "tip": result.tip,
                "landed_at": now,
            }
        )
        return PlanDecision(_succeeded(status, merged, now))
    moved = step.model_copy(update={"tip": result.tip, "step": "Queued"})
    status, _ = _step(status.model_copy(update={"delivery": moved}), "Preparing", now)
    return PlanDecision(status)


def _to_judge(snapshot: PlanSnapshot, status: PlanStatus, last: Task) -> PlanVerification | None:
    """What must be judged (again) before it lands: the Project asks for gates that were not run."""
    judged = status.verification or last.status.verification
    landed = last.status.delivery
    if judged is None or landed is None or status.integration is None:
        return None
    known = {result.name for result in judged.checks}
    if isinstance(judged, PlanVerification):
        missing = set(_names(_specs(snapshot))) - known
        fresh = {"passed": None, "checks": (), "round": judged.round + 1}
        return judged.model_copy(update=fresh) if missing else None
    gates = {spec.name for spec in _specs(snapshot) if spec.kind == "gate"}
    if not gates - known:
        return None
    return PlanVerification(
        base=status.integration.target_sha,
        sha=landed.sha or judged.sha,
        tree=landed.tree or judged.tree,
        ref=status.integration.ref,
    )


def _prepare(snapshot: PlanSnapshot, status: PlanStatus, last: Task, now: datetime) -> PlanDecision:
    assert status.delivery is not None
    assert status.integration is not None
    step, meta = status.delivery, snapshot.plan.metadata
    name = names.check_job(meta.name, "prepare", step.round)
    candidate = f"refs/bernstein/{meta.uid[:8]}/candidate"
    job = snapshot.jobs.get(name)
    if job is None:
        sha = (last.status.delivery and last.status.delivery.sha) or ""
        title = sanitise(snapshot.plan.spec.name, 200)
        message = f"Merge plan {title}\n\nBernstein-Plan: {meta.namespace}/{meta.name}\n"
        wanted = RunPrepare(
            name, status.integration.ref, sha, _onto(status), candidate, message, merge=True
        )
        return PlanDecision(status, (wanted,))
    end = end_of(job, "prepare", now)
    if end is None:
        return PlanDecision(status, (), 5)
    if isinstance(end, Diagnosis):
        return PlanDecision(_failed(snapshot, status, step, end, now), given_up(job))
    try:
        result = load(PrepareResult, end)
    except ValueError as error:
        problem = Diagnosis("InfrastructureError", f"prepare left no result: {error}")
        return PlanDecision(_failed(snapshot, status, step, problem, now))
    if result.conflicts:
        files = ", ".join(sanitise(p, 200) for p in result.conflicts)
        return PlanDecision(_conflict(status, step, files, now))
    round_ = status.verification.round + 1 if status.verification else 0
    judged = PlanVerification(
        round=round_,
        base=result.base,
        sha=result.sha,
        tree=result.tree,
        # No candidate was made where the target holds everything already.
        ref=candidate if result.sha != result.base else _onto(status),
    )
    done = step.model_copy(update={"step": "Queued", "tip": result.base})
    status = status.model_copy(update={"verification": judged, "delivery": done})
    return PlanDecision(busy(status, "Verifying", "the merge is verified", now))


def _conflict(status: PlanStatus, step: Delivery, files: str, now: datetime) -> PlanStatus:
    text = f"the target moved, and the Plan's work conflicts with it in: {files}"
    conflict = step.model_copy(
        update={"state": "Conflict", "reason": "MergeConflict", "message": text[:2000]}
    )
    status = status.model_copy(update={"delivery": conflict, "phase": "Stalled"})
    return stalled(status, "MergeConflict", f"{text}. {policy('MergeConflict').remedy}", now)


def _specs(snapshot: PlanSnapshot) -> tuple[CheckSpec, ...]:
    """Every gate, and every signal of every Task, once each."""
    assert snapshot.project is not None
    signals: dict[str, Signal] = {}
    for task in snapshot.tasks.values():
        for signal in task.spec.completion_signals:
            signals.setdefault(signal.model_dump_json(), signal)
    everything = Subject(
        any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
    )
    return checks.plan_checks(signals.values(), snapshot.project.spec, everything)


def _names(specs: tuple[CheckSpec, ...]) -> list[str]:
    return [spec.name for spec in specs]


def _verify(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    judged = status.verification
    assert judged is not None
    assert status.integration is not None
    if judged.passed is False:
        return PlanDecision(status)
    specs = _specs(snapshot)
    wanted = wanted_jobs(
        snapshot.plan.metadata.name,
        judged,
        specs,
        pinned_sha=status.integration.target_sha,
        onto=_onto(status),
    )
    jobs = {c: snapshot.jobs[i.job] for c, i in wanted.items() if i.job in snapshot.jobs}
    results = checks.verdicts(specs, jobs)
    if results is None:
        missing = tuple(i for c, i in wanted.items() if c not in jobs)
        return PlanDecision(status, missing, 5 if jobs else None)
    if not checks.rejected(results) and checks.errored(results):
        return PlanDecision(_cannot_judge(snapshot, status, judged, results, now))
    passed = checks.passed(results)
    seen = judged.model_copy(update={"checks": results, "passed": passed})
    status = status.model_copy(update={"verification": seen})
    if passed:
        return PlanDecision(busy(status, "Verified", "the merge passed its checks", now))
    bad = [r for r in results if r.required and r.verdict not in ("Passed", "Skipped", "Bypassed")]
    which = ", ".join(f"{r.title} ({r.verdict})" for r in bad)
    text = f"the target moved, and the merge with it does not pass: {which}"
    status = status.model_copy(update={"phase": "Stalled"})
    return PlanDecision(stalled(status, "GateFailed", text, now))


def _cannot_judge(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    judged: PlanVerification,
    results: tuple[CheckResult, ...],
    now: datetime,
) -> PlanStatus:
    """Judged again after a while, by new Jobs."""
    error = checks.errored(results)[0]
    text = f"'{error.name}' could not run: {error.reason}: {error.excerpt}"
    again = judged.model_copy(update={"round": judged.round + 1, "checks": ()})
    hold = _hold(snapshot, "GateErrored", text, now)
    status = status.model_copy(update={"verification": again, "hold": hold, "phase": "Stalled"})
    remedy = policy("GateErrored").remedy
    return stalled(status, "GateErrored", f"{text}. Remedy: {remedy}", now)


def _hold(snapshot: PlanSnapshot, reason: str, text: str, now: datetime) -> Hold:
    project = snapshot.project
    return Hold(
        reason=reason,
        message=text,
        retry_at=now + timedelta(seconds=PROBE_SECONDS),
        generation=project.metadata.generation if project else 0,
    )


def _failed(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    step: Delivery,
    problem: Diagnosis,
    now: datetime,
    *,
    unsure: bool = False,
) -> PlanStatus:
    """Tried again after a while under a new number; the work stays where it is.

    `unsure`: it may have landed, so it stays in this step until a land Job has read the remote.
    """
    number = status.jobs + (1 if unsure else 0)
    row = policy(problem.reason)
    text = sanitise(problem.message, 1500)
    refused = problem.reason in ("CredentialRefused", "BranchProtected")
    again = step.model_copy(
        update={
            "state": "CredentialRefused" if refused else "Pending",
            "step": "Landing" if unsure else "Queued",
            "round": number if unsure else step.round,
            "reason": problem.reason,
            "message": text,
        }
    )
    hold = _hold(snapshot, problem.reason, text, now)
    update = {"delivery": again, "hold": hold, "phase": "Stalled", "jobs": number}
    status = status.model_copy(update=update)
    return stalled(status, problem.reason, f"{text}. Remedy: {row.remedy}", now)


def _succeeded(status: PlanStatus, delivered: Delivery, now: datetime) -> PlanStatus:
    status = status.model_copy(
        update={"delivery": delivered, "phase": "Succeeded", "ended_at": now, "hold": None}
    )
    return ended(status, True, "Delivered", "verified and merged", now)
