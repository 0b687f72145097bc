"""Delivery of a Task: its turn, then its landing in the Plan's integration ref or the branch."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.actions import TaskDecision
from bernstein.core.conditions import busy, ended, is_stalled
from bernstein.core.delivery import landing, tip
from bernstein.core.delivery.landing import (
    JudgedCommit,
    Landed,
    Landing,
    OnItsWay,
    Prepared,
    Source,
)
from bernstein.core.delivery.may_merge import may_merge
from bernstein.core.fsm import move
from bernstein.core.sanitise import line as sanitise
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification.candidate import origin_of
from bernstein.core.verification.round import CHANGED, afresh, again
from bernstein.core.verification.task import specs_of


def deliver(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Done Task whose verification passed."""
    match _next(snapshot, status, now):
        case Prepared(status, candidate):
            return TaskDecision(again(status, candidate, "the candidate is verified again", now))
        case Landed(status, delivered):
            return TaskDecision(_closed(status, delivered, now))
        case step:
            return TaskDecision(step.status, step.actions, step.requeue_after)


def _next(
    snapshot: TaskSnapshot, status: TaskStatus, now: datetime
) -> landing.LandingState[TaskStatus]:
    judged, current = status.verification, status.delivery
    assert judged is not None
    onto, changed = snapshot.target_ref, landing.is_lost(status) or judged.sha != judged.base
    rests = landing.at_rest(status, onto, changed=changed, project=snapshot.project, now=now)
    if rests is not None:
        return rests
    if current is None or current.step in (None, "Queued"):
        return OnItsWay(_asks_for_its_turn(snapshot, status, now))
    status = status.model_copy(update={"queue": None})

    def forbids(before: TaskStatus) -> TaskStatus | None:
        return _verify_again(snapshot, before, judged, now)

    return landing.forward(status, _landing(snapshot, status, judged), forbids, now)


def _asks_for_its_turn(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """Queued, until the schedule of the Project says that it is next."""
    is_waiting = status.delivery is not None and status.delivery.step == "Queued"
    if is_waiting and status.hold is None and not is_stalled(status):
        return status
    queued = status.delivery or Delivery(state="Pending", onto=snapshot.target_ref)
    update = {"delivery": queued.model_copy(update={"step": "Queued"}), "hold": None}
    text = "it is verified and waits for its turn"
    if landing.is_lost(status):
        text = "a candidate is to be made anew, and it waits for its turn"
    return busy(status.model_copy(update=update), WaitReason.MERGE_QUEUE, text, now)


def _landing(snapshot: TaskSnapshot, status: TaskStatus, judged: Verification) -> Landing:
    session, origin = status.session or "", origin_of(judged)
    return Landing(
        job=partial(names.session_job, session),
        number=1 + (status.delivery.round if status.delivery is not None else 0),
        commit=JudgedCommit(judged.ref, judged.sha, judged.tree, judged.base),
        source=Source(
            origin=origin,
            candidate=names.candidate_ref(origin.ref),
            message=commit_message(snapshot, session, status.attempt),
        ),
        onto=snapshot.target_ref,
        tip=tip.known_tip(snapshot),
        ours=snapshot.plan is not None,
        conflict="it conflicts with what landed before, in",
        project=snapshot.project,
        jobs=snapshot.jobs,
    )


def _verify_again(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, now: datetime
) -> TaskStatus | None:
    """None where it may be merged; else the status in which the checks of now are run first."""
    expected = specs_of(snapshot, judged)
    if may_merge(judged, sha=judged.sha, tree=judged.tree, expected=expected):
        return None
    return again(landing.queued(status), afresh(judged), CHANGED, now)


def _closed(status: TaskStatus, delivered: Delivery, now: datetime) -> TaskStatus:
    closed = move(status, TaskState.CLOSED, "Delivered", now).model_copy(
        update={"delivery": delivered, "ended_at": now, "queue": None, "hold": None}
    )
    return ended(closed, True, "Closed", "verified and merged", now)


def commit_message(snapshot: TaskSnapshot, session: str, attempt: int) -> str:
    """The text of the Task's commit: its title, and trailers that lead back to the objects."""
    meta = snapshot.task.metadata
    trailers = [
        f"Bernstein-Task: {meta.namespace}/{meta.name}",
        f"Bernstein-Session: {session}",
        f"Bernstein-Attempt: {attempt}",
    ]
    if snapshot.plan is not None:
        trailers.insert(0, f"Bernstein-Plan: {meta.namespace}/{snapshot.plan.metadata.name}")
    return sanitise(snapshot.task.spec.title, 200) + "\n\n" + "\n".join(trailers) + "\n"
