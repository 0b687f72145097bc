"""From verified to landed: queue, candidate when the base moved, compare-and-swap, proof."""

from __future__ import annotations

from datetime import datetime, timedelta

from bernstein.api.pod import LandResult, PrepareResult, load
from bernstein.api.states import TaskState
from bernstein.api.task import Delivery, Hold, QueueReason, TaskStatus, Verification
from bernstein.core import landing, names, pods, verification
from bernstein.core.errors import (
    MAX_INFRASTRUCTURE_FAILURES,
    PROBE_SECONDS,
    Retry,
    policy,
)
from bernstein.core.fsm import move
from bernstein.core.intents import Decision, DeleteJobs, RunLand, RunPrepare, TaskSnapshot
from bernstein.core.merge import may_merge
from bernstein.core.pods import Diagnosis, JobView
from bernstein.core.progress import busy, ended, stalled
from bernstein.core.sanitise import text as sanitise


def deliver(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Decision:
    """The next step of a Done Task whose verification passed."""
    judged = status.verification
    assert judged is not None
    current = status.delivery
    if current is not None and current.state == "Conflict":
        return Decision(status)
    held = status.hold
    if held is not None and now < held.retry_at and _same_project(snapshot, held):
        return Decision(status, (), (held.retry_at - now).total_seconds())
    status = status.model_copy(update={"hold": None})
    if judged.sha == judged.base:
        return Decision(_closed(status, Delivery(state="NoChange", onto=_onto(snapshot)), now))
    if current is None or current.step in (None, "Queued"):
        first = landing.waits_for(snapshot)
        if first is not None:
            return Decision(_queued(snapshot, status, first, now))
    return _forward(snapshot, status.model_copy(update={"queue": None}), judged, now)


def _same_project(snapshot: TaskSnapshot, hold: Hold) -> bool:
    project = snapshot.project
    return project is not None and project.metadata.generation == hold.generation


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
    ended_ = end_of(job, "prepare", now)
    if ended_ is None:
        return Decision(status, (), 5)
    if isinstance(ended_, Diagnosis):
        return Decision(_merge_failed(snapshot, status, step, ended_, now), given_up(job))
    try:
        result = load(PrepareResult, ended_)
    except ValueError as error:
        problem = Diagnosis("InfrastructureError", f"prepare left no result: {error}")
        return Decision(_merge_failed(snapshot, status, step, problem, now))
    if result.conflicts:
        return Decision(_conflict(status, step, result.conflicts, now))
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
        expected = [spec.name for spec in verification.specs_of(snapshot, judged)]
        if not may_merge(judged, sha=judged.sha, tree=judged.tree, expected=expected):
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
    ended_ = end_of(job, "land", now)
    if ended_ is None:
        return Decision(status, (), 5)
    try:
        problem = ended_ if isinstance(ended_, Diagnosis) else None
        result = load(LandResult, ended_) if isinstance(ended_, str) else None
    except ValueError as error:
        problem, result = Diagnosis("InfrastructureError", f"land left no result: {error}"), None
    if problem is not None or result is None:
        assert problem is not None
        unsure = may_have_landed(job, problem)
        failed = _merge_failed(snapshot, status, step, problem, now, unsure=unsure)
        return Decision(failed, given_up(job))
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


_NOT_LANDED = frozenset(
    {
        "BranchProtected",
        "CredentialRefused",
        "NotOnBase",
        "PushRejected",
        "RefMoved",
        "TreeMismatch",
    }
)
"""Failures that the land program reports only after it has seen that nothing landed."""


def may_have_landed(job: JobView, problem: Diagnosis) -> bool:
    """Whether only another look at the remote can tell: the Job may have pushed before it ended."""
    if problem.reason in _NOT_LANDED:
        return False
    return job.pod is None or pods.is_running(job.pod, "land")


def given_up(job: JobView) -> tuple[DeleteJobs, ...]:
    """A Job that will not be waited for must not start later."""
    return () if job.ended or job.deleting else (DeleteJobs((job,)),)


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


def end_of(job: JobView, container: str, now: datetime) -> str | Diagnosis | None:
    """How a merge Job ended: the result's text, why there is none, or None while the Job runs."""
    if not job.ended:
        return pods.diagnose_waiting(job, now)
    if job.pod is None:
        return Diagnosis("PodLost", "the pod is gone")
    problem = pods.failure_of(job.pod, container)
    unexplained = problem is not None and problem.reason == "InfrastructureError"
    cut_off = pods.is_disrupted(job.pod) or pods.is_deleting(job.pod)
    if problem is not None and not (unexplained and cut_off):
        return problem
    ended_ = pods.terminated(job.pod, container)
    if ended_ is None or problem is not None or pods.reason(job.pod):
        return Diagnosis("Disrupted", f"the {container} pod did not finish")
    return str(ended_.get("message") or "")


def _conflict(
    status: TaskStatus, step: Delivery, paths: tuple[str, ...], now: datetime
) -> TaskStatus:
    files = ", ".join(sanitise(p, 200) for p in paths)
    text = f"it conflicts with what landed before, in: {files}"
    conflict = step.model_copy(
        update={
            "state": "Conflict",
            "step": None,
            "reason": "MergeConflict",
            "message": text[:2000],
        }
    )
    status = status.model_copy(update={"delivery": conflict})
    return stalled(status, "MergeConflict", f"{text}. {policy('MergeConflict').remedy}", now)


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
    project = snapshot.project
    hold = Hold(
        reason=problem.reason,
        message=text,
        retry_at=now + timedelta(seconds=PROBE_SECONDS),
        generation=project.metadata.generation if project else 0,
    )
    status = status.model_copy(update={"hold": hold})
    return stalled(status, problem.reason, f"{text}. Remedy: {row.remedy}", now)


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
