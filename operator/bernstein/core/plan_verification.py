"""The checks of what a Plan delivers, where it is not a tree that its Tasks were verified on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bernstein.api.plan import Integration, PlanStatus, PlanVerification
from bernstein.api.signals import Signal
from bernstein.api.task import CheckResult, Verification
from bernstein.core import checks, holds, reports
from bernstein.core.checks import CheckSpec, Subject
from bernstein.core.errors import MAX_ROUNDS
from bernstein.core.intents import PlanDecision, PlanSnapshot, give_up
from bernstein.core.merge import unanswered
from bernstein.core.pods import Diagnosis, JobView
from bernstein.core.progress import busy, stalled
from bernstein.core.remedies import with_remedy
from bernstein.core.verification import ENDLESS, Wanted, found, is_outdated, wanted_jobs

CHANGED = "the Project's checks have changed"


def specs(snapshot: PlanSnapshot) -> tuple[CheckSpec, ...]:
    """Every gate, and every signal of every Task, once each."""
    assert snapshot.project is not None
    signals: dict[str, Signal] = {}
    for _, task in sorted(snapshot.tasks.items()):
        for signal in task.spec.completion_signals:
            signals.setdefault(signal.model_dump_json(), signal)
    everything = Subject(
        any_changed=True, python_changed=True, tests_changed=True, deps_changed=True
    )
    return checks.plan_checks(signals.values(), snapshot.project.spec, everything)


def of_last_task(snapshot: PlanSnapshot, integration: Integration) -> Verification | None:
    """Of the Task whose commit is the tip; None where that Task was deleted."""
    for task in snapshot.tasks.values():
        delivered = task.status.delivery
        if delivered is not None and delivered.sha == integration.sha:
            return task.status.verification
    return None


def to_judge(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration
) -> PlanVerification | None:
    """What must be judged (again) before it lands: the Project asks for gates that were not run,
    or nobody can say any more what the last Task was judged by."""
    candidate, wanted = status.verification, specs(snapshot)
    if candidate is not None:
        return _fresh(candidate) if unanswered(candidate, wanted) else None
    last = of_last_task(snapshot, integration)
    if last is not None and not unanswered(last, (s for s in wanted if s.kind == "gate")):
        return None
    return PlanVerification(
        base=integration.target_sha,
        sha=integration.tip,
        tree=integration.tree or "",
        ref=integration.ref,
    )


def again(status: PlanStatus, judged: PlanVerification, text: str, now: datetime) -> PlanStatus:
    return busy(status.model_copy(update={"verification": judged}), "Verifying", text, now)


def _fresh(judged: PlanVerification) -> PlanVerification:
    """To be judged anew, by new Jobs."""
    update = {"round": judged.round + 1, "passed": None, "checks": ()}
    return judged.model_copy(update=update)


def verify(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """One look at the checks of a tree that has not passed yet."""
    judged, integration = status.verification, status.integration
    assert judged is not None
    assert integration is not None
    if judged.passed is False:
        if status.hold is None or not holds.is_mended(status.hold, snapshot.project):
            return PlanDecision(status)
        status = status.model_copy(update={"hold": None})
        return PlanDecision(again(status, _fresh(judged), "the Project has changed", now))
    if judged.round >= MAX_ROUNDS:
        told = with_remedy(ENDLESS, "GateErrored")
        return PlanDecision(stalled(status, "GateErrored", told, now))
    asked = specs(snapshot)
    wanted = wanted_jobs(
        snapshot.plan.metadata.name,
        judged,
        asked,
        pinned_sha=integration.target_sha,
        onto=integration.target,
    )
    jobs = found(wanted, snapshot.jobs)
    if is_outdated(wanted, jobs):
        return PlanDecision(again(status, _fresh(judged), CHANGED, now), give_up(jobs.values()))
    assert snapshot.project is not None
    results = checks.verdicts(asked, jobs, now, snapshot.project.spec.gates)
    if results is None:
        return _wait(snapshot, status, asked, wanted, jobs, now)
    seen = _judge(snapshot, status, judged, results, now)
    seen, kept = reports.keep(judged.checks, seen, jobs)
    return PlanDecision(seen, (*kept, *give_up(jobs.values())))


def _wait(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    asked: tuple[CheckSpec, ...],
    wanted: Wanted,
    jobs: Mapping[str, JobView],
    now: datetime,
) -> PlanDecision:
    stuck = checks.stuck(jobs, now)
    if stuck is not None:
        return PlanDecision(_cannot_judge(snapshot, status, *stuck, now), give_up(jobs.values()))
    assert snapshot.project is not None
    gates = snapshot.project.spec.gates
    start = checks.to_start(asked, wanted, jobs, now, gates)
    return PlanDecision(status, start, 5 if jobs else None)


def _judge(
    snapshot: PlanSnapshot,
    status: PlanStatus,
    judged: PlanVerification,
    results: tuple[CheckResult, ...],
    now: datetime,
) -> PlanStatus:
    rejected, errored = checks.rejected(results), checks.errored(results)
    if checks.ran_out_of_memory(rejected) and not judged.out_of_memory:
        once = _fresh(judged).model_copy(update={"out_of_memory": True})
        return again(status, once, "a check ran out of memory; once more", now)
    if errored and not rejected:
        why = Diagnosis(errored[0].reason, errored[0].excerpt)
        seen = judged.model_copy(update={"checks": results})
        status = status.model_copy(update={"verification": seen})
        return _cannot_judge(snapshot, status, errored[0].name, why, now)
    seen = judged.model_copy(update={"checks": results, "passed": checks.passed(results)})
    status = status.model_copy(update={"verification": seen})
    if seen.passed:
        return busy(status, "Verified", "what is delivered passed its checks", now)
    return _rejected(snapshot, status, rejected, now)


def _rejected(
    snapshot: PlanSnapshot, status: PlanStatus, rejected: list[CheckResult], now: datetime
) -> PlanStatus:
    """It is judged again when the Project has changed."""
    which = ", ".join(f"{r.title} ({r.verdict})" for r in rejected)
    text = f"the Plan's work as a whole, on the target as it is now, does not pass: {which}"
    held = holds.hold("GateFailed", text, snapshot.project, now)
    status = status.model_copy(update={"hold": held, "phase": "Stalled"})
    told = f"{text}. Remedy: change the Project's gates, or apply a Plan that mends the code."
    return stalled(status, "GateFailed", told, now)


def _cannot_judge(
    snapshot: PlanSnapshot, status: PlanStatus, check: str, why: Diagnosis, now: datetime
) -> PlanStatus:
    """Judged again after a while, by new Jobs; the verdicts of before are shown until then."""
    assert status.verification is not None
    again_ = status.verification.model_copy(update={"round": status.verification.round + 1})
    text = f"'{check}' could not run: {why.reason}: {why.message}"
    held = holds.hold("GateErrored", text, snapshot.project, now)
    update = {"verification": again_, "hold": held, "phase": "Stalled"}
    told = with_remedy(text, "GateErrored", snapshot.project)
    return stalled(status.model_copy(update=update), "GateErrored", told, now)
