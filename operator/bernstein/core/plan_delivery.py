"""Delivery of a Plan: the integration ref onto the target branch."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.plan import Integration, PlanStatus, PlanVerification
from bernstein.api.pod import LandResult, PrepareResult
from bernstein.api.task import Delivery
from bernstein.core import holds, names, plan_verification
from bernstein.core.intents import PlanDecision, PlanSnapshot, RunLand, RunPrepare, give_up
from bernstein.core.merge import may_merge
from bernstein.core.merge_job import may_have_landed, result_of
from bernstein.core.pods import Diagnosis
from bernstein.core.progress import busy, ended, stalled
from bernstein.core.remedies import with_remedy
from bernstein.core.sanitise import text as sanitise


def has_started(status: PlanStatus) -> bool:
    """A land Job may be at work: too late to cancel."""
    return status.delivery is not None and status.delivery.step == "Landing"


def deliver(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step of a Plan whose Tasks are all Closed."""
    left = holds.seconds_left(status.hold, snapshot.project, now)
    if left is not None:
        return PlanDecision(status, (), left)
    integration = status.integration
    assert integration is not None
    if integration.sha is None:
        return PlanDecision(_succeeded(status, Delivery(state="NoChange", onto=_onto(status)), now))
    if status.delivery is not None and status.delivery.step == "Preparing":
        return _prepare(snapshot, status, integration, now)
    if status.verification is not None and status.verification.passed is not True:
        return plan_verification.verify(snapshot, status, now)
    return _land(snapshot, status, integration, now)


def _onto(status: PlanStatus) -> str:
    assert status.integration is not None
    return status.integration.target


def _step(status: PlanStatus, step: str, now: datetime) -> tuple[PlanStatus, Delivery]:
    old = status.delivery or Delivery(state="Pending", onto=_onto(status))
    if old.step == step:
        return status, old
    number = status.jobs + 1
    update = {"state": "Pending", "step": step, "round": number, "reason": None, "message": None}
    new = old.model_copy(update=update)
    text = "the result is being merged" if step == "Landing" else "a candidate is being made"
    status = status.model_copy(update={"delivery": new, "jobs": number, "hold": None})
    return busy(status, step, text, now), new


def _land(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanDecision:
    begins = not has_started(status)
    before = status
    status, step = _step(status, "Landing", now)
    name = names.check_job(snapshot.plan.metadata.name, "land", step.round)
    job = None if begins else snapshot.jobs.get(name)
    if job is None:
        if step.reason is None:  # no Job of this landing can have pushed yet
            forbidden = _may_not(snapshot, before, integration, now)
            if forbidden is not None:
                return PlanDecision(forbidden)
        if begins:
            # Written before there is a Job: whatever crashes, a cancel sees that it is too late.
            return PlanDecision(status)
        return PlanDecision(status, (_land_job(status, integration, name),))
    result = result_of(LandResult, job, "land", now)
    if result is None:
        return PlanDecision(status, (), 5)
    if isinstance(result, Diagnosis):
        unsure = may_have_landed(job, result)
        failed = _failed(snapshot, status, step, result, now, unsure=unsure)
        return PlanDecision(failed, give_up((job,)))
    if result.state == "Landed":
        merged = step.model_copy(
            update={
                "state": "Merged",
                "step": None,
                "sha": _delivered(status, integration).sha,
                "tree": _delivered(status, integration).tree,
                "tip": result.tip,
                "landed_at": now,
            }
        )
        return PlanDecision(_succeeded(status, merged, now))
    moved = step.model_copy(update={"tip": result.tip, "step": "Queued"})
    status, _ = _step(status.model_copy(update={"delivery": moved}), "Preparing", now)
    return PlanDecision(status)


def _delivered(status: PlanStatus, integration: Integration) -> PlanVerification | Integration:
    """What is delivered: the candidate on the target as it is now, or the Tasks' last commit."""
    return status.verification or integration


def _land_job(status: PlanStatus, integration: Integration, name: str) -> RunLand:
    candidate = status.verification
    delivered = _delivered(status, integration)
    return RunLand(
        job=name,
        ref=delivered.ref,
        sha=delivered.sha or "",
        tree=delivered.tree or "",
        onto=_onto(status),
        expect=candidate.base if candidate is not None else integration.target_sha,
    )


def _may_not(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanStatus | None:
    """The status where may_merge forbids it: judged (again) first, or for a person to look at."""
    unjudged = plan_verification.to_judge(snapshot, status, integration)
    if unjudged is not None:
        if has_started(status) and status.delivery is not None:
            queued = status.delivery.model_copy(update={"step": "Queued"})
            status = status.model_copy(update={"delivery": queued})
        return plan_verification.again(status, unjudged, plan_verification.CHANGED, now)
    delivered, candidate = _delivered(status, integration), status.verification
    if may_merge(
        candidate or plan_verification.of_last_task(snapshot, integration),
        sha=delivered.sha or "",
        tree=delivered.tree or "",
        # That the last Task's gates are those of now was asked above.
        expected=plan_verification.specs(snapshot) if candidate is not None else (),
    ):
        return None
    text = "the tree on the integration ref is not the one that was verified"
    told = with_remedy(text, "VerificationMissing")
    return stalled(status, "VerificationMissing", told, now)


def _prepare(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanDecision:
    assert status.delivery is not None
    step, meta = status.delivery, snapshot.plan.metadata
    name = names.check_job(meta.name, "prepare", step.round)
    candidate = f"refs/bernstein/{meta.uid[:8]}/candidate"
    job = snapshot.jobs.get(name)
    if job is None:
        title = sanitise(snapshot.plan.spec.name, 200)
        message = f"Merge plan {title}\n\nBernstein-Plan: {meta.namespace}/{meta.name}\n"
        ref, sha = integration.ref, integration.tip
        wanted = RunPrepare(name, ref, sha, _onto(status), candidate, message, merge=True)
        return PlanDecision(status, (wanted,))
    result = result_of(PrepareResult, job, "prepare", now)
    if result is None:
        return PlanDecision(status, (), 5)
    if isinstance(result, Diagnosis):
        return PlanDecision(_failed(snapshot, status, step, result, now), give_up((job,)))
    if result.conflicts:
        files = ", ".join(sanitise(p, 200) for p in result.conflicts)
        return PlanDecision(_conflict(snapshot, status, step, files, now))
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


def _conflict(
    snapshot: PlanSnapshot, status: PlanStatus, step: Delivery, files: str, now: datetime
) -> PlanStatus:
    """It is tried again after a while, by a Job of its own: the target may be mended."""
    text = f"the target moved, and the Plan's work conflicts with it in: {files}"
    number = status.jobs + 1
    conflict = step.model_copy(
        update={
            "state": "Conflict",
            "round": number,
            "reason": "MergeConflict",
            "message": text[:2000],
        }
    )
    held = holds.hold("MergeConflict", text, snapshot.project, now)
    update = {"delivery": conflict, "hold": held, "phase": "Stalled", "jobs": number}
    status = status.model_copy(update=update)
    return stalled(status, "MergeConflict", with_remedy(text, "MergeConflict"), now)


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
    held = holds.hold(problem.reason, text, snapshot.project, now)
    update = {"delivery": again, "hold": held, "phase": "Stalled", "jobs": number}
    status = status.model_copy(update=update)
    told = with_remedy(text, problem.reason, snapshot.project)
    return stalled(status, problem.reason, told, now)


def _succeeded(status: PlanStatus, delivered: Delivery, now: datetime) -> PlanStatus:
    status = status.model_copy(
        update={"delivery": delivered, "phase": "Succeeded", "ended_at": now, "hold": None}
    )
    return ended(status, True, "Delivered", "verified and merged", now)
