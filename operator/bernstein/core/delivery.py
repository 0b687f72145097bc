"""From verified to landed: queue, candidate when the base moved, compare-and-swap, proof."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.pod import LandResult, PrepareResult
from bernstein.api.states import TaskState
from bernstein.api.task import Delivery, QueueReason, TaskStatus, Verification
from bernstein.core import holds, landing, names, verification
from bernstein.core.errors import (
    MAX_INFRASTRUCTURE_FAILURES,
    Retry,
    policy,
)
from bernstein.core.fsm import move
from bernstein.core.intents import Decision, RunLand, RunPrepare, TaskSnapshot, give_up
from bernstein.core.merge import may_merge
from bernstein.core.merge_job import may_have_landed, result_of
from bernstein.core.pods import Diagnosis
from bernstein.core.progress import busy, ended, stalled
from bernstein.core.remedies import with_remedy
from bernstein.core.sanitise import text as sanitise


def deliver(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Decision:
    """The next step of a Done Task whose verification passed."""
    judged = status.verification
    assert judged is not None
    current = status.delivery
    left = holds.seconds_left(status.hold, snapshot.project, now)
    if left is not None:
        return Decision(status, (), left)
    status = status.model_copy(update={"hold": None})
    if judged.sha == judged.base:
        return Decision(_closed(status, Delivery(state="NoChange", onto=_onto(snapshot)), now))
    if current is None or current.step in (None, "Queued"):
        first = landing.waits_for(snapshot)
        if first is not None:
            return Decision(_queued(snapshot, status, first, now))
    return _forward(snapshot, status.model_copy(update={"queue": None}), judged, now)


def _onto(snapshot: TaskSnapshot) -> str:
    return landing.ref_of(snapshot)


def _queued(snapshot: TaskSnapshot, status: TaskStatus, first: str, now: datetime) -> TaskStatus:
    text = f"'{first}' lands first"
    # The rounds go on: their numbers are in the names of Jobs that were.
    number = status.delivery.round if status.delivery is not None else 0
    waiting = status.model_copy(
        update={
            "delivery": Delivery(
                state="Pending", step="Queued", onto=_onto(snapshot), round=number
            ),
            "queue": QueueReason(reason="MergeQueue", message=text),
        }
    )
    return busy(waiting, "MergeQueue", text, now)


def _forward(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, now: datetime
) -> Decision:
    tip = landing.known_tip(snapshot)
    landing_now = status.delivery is not None and status.delivery.step == "Landing"
    if not landing_now and tip is not None and tip != judged.base:
        return _prepare(snapshot, status, judged, now)
    return _land(snapshot, status, judged, now)


def _step(
    snapshot: TaskSnapshot, status: TaskStatus, step: str, now: datetime
) -> tuple[TaskStatus, Delivery]:
    """The status in this step; a step that begins gets a Job number of its own."""
    old = status.delivery or Delivery(state="Pending", onto=_onto(snapshot))
    if old.step == step:
        return status, old
    new = old.model_copy(
        update={
            "state": "Pending",
            "step": step,
            "onto": _onto(snapshot),
            "round": old.round + 1,
            "reason": None,
            "message": None,
        }
    )
    text = "a candidate is made on the new tip" if step == "Preparing" else "it is being merged"
    return busy(status.model_copy(update={"delivery": new}), step, text, now), new


def _prepare(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, now: datetime
) -> Decision:
    status, step = _step(snapshot, status, "Preparing", now)
    name = names.check_job(status.session or "", "prepare", step.round)
    job = snapshot.jobs.get(name)
    if job is None:
        prefix = landing.owner_uid(snapshot)
        task = snapshot.task.metadata.name
        wanted = RunPrepare(
            job=name,
            ref=judged.ref,
            sha=judged.sha,
            onto=_onto(snapshot),
            candidate=names.candidate_ref(prefix, task),
            message=commit_message(snapshot, status.session or "", status.attempt),
        )
        return Decision(status, (wanted,))
    result = result_of(PrepareResult, job, "prepare", now)
    if result is None:
        return Decision(status, (), 5)
    if isinstance(result, Diagnosis):
        return Decision(_merge_failed(snapshot, status, step, result, now), give_up((job,)))
    if result.conflicts:
        return Decision(_conflict(snapshot, status, step, result.conflicts, now))
    made = names.candidate_ref(landing.owner_uid(snapshot), snapshot.task.metadata.name)
    candidate = Verification(
        round=judged.round + 1,
        base=result.base,
        sha=result.sha,
        tree=result.tree,
        # No candidate was made where the tip holds the change already.
        ref=made if result.sha != result.base else _onto(snapshot),
        candidate=True,
        files_changed=result.changed.files,
        python_changed=result.changed.python,
        tests_changed=result.changed.tests,
        deps_changed=result.changed.deps,
    )
    update = {
        "verification": candidate,
        "delivery": step.model_copy(update={"tip": result.base}),
    }
    again = status.model_copy(update=update)
    return Decision(busy(again, "Verifying", "the candidate is verified again", now))


def _land(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, now: datetime
) -> Decision:
    begins = status.delivery is None or status.delivery.step != "Landing"
    status, step = _step(snapshot, status, "Landing", now)
    name = names.check_job(status.session or "", "land", step.round)
    job = None if begins else snapshot.jobs.get(name)
    if job is None:
        expected = verification.specs_of(snapshot, judged)
        may = may_merge(judged, sha=judged.sha, tree=judged.tree, expected=expected)
        # Where a Job of this landing may have pushed already, it is finished as it was begun.
        if not may and step.reason is None:
            return Decision(_verify_again(status, step, judged, now))
        if begins:
            # Written before there is a Job: whatever crashes, a cancel sees that it is too late.
            return Decision(status)
        wanted = RunLand(
            job=name,
            ref=judged.ref,
            sha=judged.sha,
            tree=judged.tree,
            onto=_onto(snapshot),
            expect=judged.base,
        )
        return Decision(status, (wanted,))
    result = result_of(LandResult, job, "land", now)
    if result is None:
        return Decision(status, (), 5)
    if isinstance(result, Diagnosis):
        unsure = may_have_landed(job, result)
        failed = _merge_failed(snapshot, status, step, result, now, unsure=unsure)
        return Decision(failed, give_up((job,)))
    if result.state == "Landed":
        landed = step.model_copy(
            update={
                "state": "Merged",
                "step": None,
                "sha": judged.sha,
                "tree": judged.tree,
                "tip": result.tip,
                "landed_at": now,
            }
        )
        return Decision(_closed(status, landed, now))
    moved = step.model_copy(update={"tip": result.tip, "step": "Queued"})
    status = status.model_copy(update={"delivery": moved})
    return Decision(busy(status, "BaseMoved", "the tip moved; a candidate will be made", now))


def _verify_again(
    status: TaskStatus, step: Delivery, judged: Verification, now: datetime
) -> TaskStatus:
    """The Project asks for checks that this verification has not: judge it anew."""
    again = judged.model_copy(
        update={"passed": None, "digest": None, "checks": (), "round": judged.round + 1}
    )
    queued = step.model_copy(update={"step": "Queued"})
    status = status.model_copy(update={"verification": again, "delivery": queued})
    return busy(status, "Verifying", "the Project's checks have changed", now)


def _conflict(
    snapshot: TaskSnapshot,
    status: TaskStatus,
    step: Delivery,
    paths: tuple[str, ...],
    now: datetime,
) -> TaskStatus:
    """The merge alone is tried again after a while: what landed may be mended."""
    files = ", ".join(sanitise(p, 200) for p in paths)
    text = f"it conflicts with what landed before, in: {files}"
    conflict = step.model_copy(
        update={
            "state": "Conflict",
            "step": "Queued",
            "reason": "MergeConflict",
            "message": text[:2000],
        }
    )
    held = holds.hold("MergeConflict", text, snapshot.project, now)
    status = status.model_copy(update={"delivery": conflict, "hold": held})
    return stalled(status, "MergeConflict", with_remedy(text, "MergeConflict"), now)


def _merge_failed(
    snapshot: TaskSnapshot,
    status: TaskStatus,
    step: Delivery,
    problem: Diagnosis,
    now: datetime,
    *,
    unsure: bool = False,
) -> TaskStatus:
    """The Task stays Done and keeps its ref; only the merge is tried again, under a new number.

    `unsure`: it may have landed, so it stays in this step until a land Job has read the remote.
    """
    row = policy(problem.reason)
    text = sanitise(problem.message, 1500)
    refused = problem.reason in ("CredentialRefused", "BranchProtected")
    again = step.model_copy(
        update={
            "state": "CredentialRefused" if refused else "Pending",
            "step": "Landing" if unsure else "Queued",
            "round": step.round + (1 if unsure else 0),
            "reason": problem.reason,
            "message": text,
        }
    )
    failures = status.infrastructure_failures + (1 if row.capped else 0)
    # A merge that cannot be done takes none of the retries that the work itself has left.
    capped = min(failures, MAX_INFRASTRUCTURE_FAILURES)
    status = status.model_copy(update={"delivery": again, "infrastructure_failures": capped})
    if row.retry is Retry.AT_ONCE and failures <= MAX_INFRASTRUCTURE_FAILURES:
        return busy(status, "MergeRetry", text, now)
    held = holds.hold(problem.reason, text, snapshot.project, now)
    status = status.model_copy(update={"hold": held})
    told = with_remedy(text, problem.reason, snapshot.project)
    return stalled(status, problem.reason, told, now)


def _closed(status: TaskStatus, delivered: Delivery, now: datetime) -> TaskStatus:
    closed = move(status, TaskState.CLOSED, "Delivered", now).model_copy(
        update={"delivery": delivered, "ended_at": now, "queue": None, "hold": None}
    )
    return ended(closed, True, "Closed", "verified and merged", now)


def commit_message(snapshot: TaskSnapshot, session: str, attempt: int) -> str:
    """The commit's text: title, and trailers that lead back to the objects."""
    meta = snapshot.task.metadata
    trailers = [
        f"Bernstein-Task: {meta.namespace}/{meta.name}",
        f"Bernstein-Session: {session}",
        f"Bernstein-Attempt: {attempt}",
    ]
    if snapshot.plan is not None:
        trailers.insert(0, f"Bernstein-Plan: {meta.namespace}/{snapshot.plan.metadata.name}")
    return sanitise(snapshot.task.spec.title, 200) + "\n\n" + "\n".join(trailers) + "\n"
