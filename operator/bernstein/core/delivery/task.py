"""Delivery of a Task: its turn, then its landing in the Plan's integration ref or the branch."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Origin, Verification
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.actions import TaskDecision
from bernstein.core.approvals import bypass, results
from bernstein.core.delivery import (
    attestation,
    conflict,
    formatting,
    landing,
    proposal,
    pull_request,
    tip,
)
from bernstein.core.delivery.may_merge import may_merge
from bernstein.core.delivery.proposed import closing, outdated, pushed
from bernstein.core.delivery.way import (
    Conflicted,
    JudgedCommit,
    Landed,
    Landing,
    LandingState,
    OnItsWay,
    Prepared,
    Refused,
    Source,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.fsm import move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification.candidate import is_of_people, origin_of
from bernstein.core.verification.expected.required import formatter
from bernstein.core.verification.expected.task import question, specs_of
from bernstein.core.verification.round import afresh, again
from bernstein.core.waiting import waits

_CONFLICTS = "it conflicts with what landed before, in"
_UNRESOLVED = (
    "it does not resolve the conflict: it leaves marks of it, or is not what git merges by itself "
    "where there was none, in"
)


def deliver(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Done Task whose verification passed."""
    if proposal.is_proposed(status):
        return _propose(snapshot, status, now)
    if conflict.rests(snapshot, status):
        return TaskDecision(status)
    match _next(snapshot, status, now):
        case Prepared(status, candidate):
            return TaskDecision(again(status, candidate))
        case Landed(status, delivered):
            return TaskDecision(_landed(status, delivered, now))
        case Refused(status, why):
            return TaskDecision(pushed.stopped(status, why, now) or status)
        case Conflicted(status, text, sides):
            stopped = pushed.stopped(status, text, now)
            if stopped is not None:
                return TaskDecision(stopped)
            return TaskDecision(conflict.stalled(snapshot, status, text, sides, now))
        case step:
            asking = _asks_for_its_turn(snapshot, step.status, now)
            return TaskDecision(asking, step.actions, step.requeue_after)


def follow(
    snapshot: TaskSnapshot, status: TaskStatus, gone: Diagnosis, now: datetime
) -> TaskDecision:
    """One look at a landing that has begun, of a Task whose Project is `gone`."""
    judged, delivery = status.verification, status.delivery
    assert judged is not None
    assert delivery is not None
    way = _landing(snapshot, status, judged, delivery.onto or "")
    step = landing.followed(status, way, gone, now)
    if isinstance(step, Landed):
        return TaskDecision(_landed(step.status, step.delivery, now))
    return TaskDecision(step.status, step.actions, step.requeue_after)


def _propose(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of work that is at the branch of its own pull request."""
    delivery, project = status.delivery, snapshot.project
    assert delivery is not None
    assert project is not None
    way = proposal.Proposal(
        job=partial(names.session_job, snapshot.prefix_of_jobs(status)),
        number=1 + delivery.round,
        text=partial(pull_request.of_task, snapshot, status),
        whose="Task",
        # Whoever depends on it needs its code.
        succeeds_on="Merged",
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
        resting=snapshot.resting,
    )
    match proposal.step(status, way, now):
        case Landed(status, delivered):
            return TaskDecision(_landed(pushed.without_no(status, delivered), delivered, now))
        case step:
            newer = outdated.step(step.status, project, lambda same: same, now)
            again_in = newer.requeue_after or step.requeue_after
            status = pushed.without_no(newer.status, newer.status.delivery)
            theirs = pushed.step(status, project, lambda same: same, lambda: "", now)
            return TaskDecision(theirs.status, step.actions, again_in)


def closes(
    snapshot: TaskSnapshot, status: TaskStatus, why: str, now: datetime
) -> TaskDecision | TaskStatus:
    """One look at the pull request of a Task that is cancelled; the status to end with, once that
    is closed or left open."""
    delivery, meta, project = status.delivery, snapshot.task.metadata, snapshot.project
    way = closing.Closing(
        job=partial(names.session_job, snapshot.prefix_of_jobs(status)),
        number=1 + (delivery.round if delivery is not None else 0),
        comment=partial(pull_request.why_closed, "Task", meta, project, why),
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
    )
    match closing.step(status, way, now):
        case OnItsWay(at_work, actions, seconds):
            return TaskDecision(at_work, actions, seconds)
        case ended:
            return ended


def _next(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> LandingState[TaskStatus]:
    judged, current = status.verification, status.delivery
    assert judged is not None
    onto, changed = snapshot.target_ref, landing.is_lost(status) or judged.sha != judged.base
    rests = landing.at_rest(status, onto, snapshot, now, changed=changed)
    if rests is not None:
        return rests
    if current is None or current.step is None:
        if landing.is_queued(status):
            return OnItsWay(status)
        return OnItsWay(landing.tries_again(status, snapshot.project))

    def forbids(before: TaskStatus) -> TaskStatus | None:
        return _verify_again(snapshot, before, judged)

    return landing.forward(status, _landing(snapshot, status, judged, onto), forbids, now)


def way_to_format(snapshot: TaskSnapshot, status: TaskStatus) -> formatting.Way:
    """How the work of a Task that was just done is formatted."""
    assert status.verification is not None
    assert snapshot.project is not None
    asked, session = question(snapshot, status.verification), snapshot.prefix_of_jobs(status)
    return formatting.Way(
        job=formatting.job_of_session(asked.job),
        formatter=formatter(snapshot.project.spec),
        pinned_sha=asked.pinned_sha,
        message=commit_message(snapshot, session, status.attempt),
        jobs=snapshot.jobs,
        late=snapshot.late,
    )


def _asks_for_its_turn(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """It can land and waits for nothing else: until the schedule of the Project says that it is
    next."""
    delivery = status.delivery or Delivery(state="Pending", onto=snapshot.target_ref)
    verified = status.verification is not None and status.verification.passed is True
    ready = verified or landing.is_lost(status)
    if status.waiting is not None or delivery.step is not None or not ready:
        return status
    status = status.model_copy(update={"delivery": delivery})
    text = "it is verified and waits for its turn"
    if landing.is_lost(status):
        text = "it is to be made anew on the branch as it is now, and waits for its turn"
    return waits(status, WaitReason.MERGE_QUEUE, text, now)


def _landing(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification, onto: str
) -> Landing:
    session, theirs = snapshot.prefix_of_jobs(status), pushed.origin(status.delivery)
    signs, seen = attestation.is_signed(snapshot), tip.known_tip(snapshot)
    origin = theirs or origin_of(judged)
    if origin.ref == onto and not snapshot.delivers:
        # It has no work of its own: what others have landed is.
        origin = Origin(ref=onto, sha=seen or origin.sha)
    of_session = names.work_ref(snapshot.refs, snapshot.task.metadata.name, 0)
    return Landing(
        job=partial(names.session_job, session),
        number=1 + (status.delivery.round if status.delivery is not None else 0),
        commit=JudgedCommit(judged.ref, judged.sha, judged.tree, judged.base),
        source=Source(
            origin=origin,
            candidate=names.candidate_ref(origin.ref if theirs is None else of_session),
            message=commit_message(snapshot, session, status.attempt),
            merge=theirs is not None,
            always=snapshot.resolves is not None or (theirs is not None and signs),
            resolves=_resolves(snapshot),
            verified=_proposed(status) if theirs is not None else None,
        ),
        onto=onto,
        tip=seen,
        ours=not snapshot.delivers,
        conflict=_CONFLICTS if snapshot.resolves is None else _UNRESOLVED,
        attests=partial(attestation.of_task, snapshot, status),
        project=snapshot.project,
        jobs=snapshot.jobs,
        late=snapshot.late,
        branch=_branch(snapshot, status, judged),
        branch_at=pushed.branch_at(status.delivery),
        signs=signs,
        resting=snapshot.resting,
    )


def _proposed(status: TaskStatus) -> str | None:
    """The commit that its pull request is of, as far as that was verified."""
    return status.delivery.sha if status.delivery is not None else None


def _branch(snapshot: TaskSnapshot, status: TaskStatus, judged: Verification) -> str | None:
    """The branch of its pull request; None: it needs none. What has begun goes on as it began."""
    delivery, project, meta = status.delivery, snapshot.project, snapshot.task.metadata
    if delivery is not None and (landing.has_started(status) or delivery.branch is not None):
        return delivery.branch
    if project is None or not snapshot.delivers:
        return None
    of_plan = snapshot.plan.spec.merge if snapshot.plan is not None else None
    if "pr" not in (project.spec.merge.strategy, of_plan):
        return None
    if judged.sha == judged.base:
        return None  # the target has all of it
    return names.pull_request_ref(meta.name, meta.uid)


def _resolves(snapshot: TaskSnapshot) -> tuple[str, str] | None:
    """The branch, and the commit of it, that the work is to be a merge with."""
    conflict, plan = snapshot.resolves, snapshot.plan
    if conflict is None or plan is None or plan.status.integration is None:
        return None
    return plan.status.integration.target, conflict.onto


def _verify_again(
    snapshot: TaskSnapshot, status: TaskStatus, judged: Verification
) -> TaskStatus | None:
    """None where it may be merged; else the status in which people are asked, or the checks of now
    are run, first. One that is being deleted may not."""
    if snapshot.task.metadata.deletion_timestamp is not None:
        return landing.without_turn(status)
    if not is_of_people(judged) and (theirs := pushed.without_agents(status)) is not None:
        return theirs
    expected, approved = specs_of(snapshot, judged), results.may_land(snapshot, status)
    may = partial(may_merge, judged, sha=judged.sha, tree=judged.tree, expected=expected)
    hold = bypass.hold(snapshot, judged)
    if may(approved=approved, bypasses_hold=hold):
        return None
    if may(approved=True, bypasses_hold=hold):
        return landing.without_turn(status)
    return again(landing.without_turn(status), afresh(judged))


def _landed(status: TaskStatus, delivered: Delivery, now: datetime) -> TaskStatus:
    """It is Closed, unless its pull request is to be opened; or stays as it is, where what was said
    of it has made nobody change anything."""
    before = status.delivery
    if delivered.state == "NoChange" and before is not None and before.request:
        update = {"state": "PullRequestOpen", "step": None, "reason": None, "message": None}
        return status.model_copy(update={"delivery": before.model_copy(update=update)})
    if proposal.is_next(delivered):
        return status.model_copy(update={"delivery": delivered})
    return move(status, TaskState.CLOSED, "Delivered", now).model_copy(
        update={"delivery": delivered, "ended_at": now}
    )


def commit_message(snapshot: TaskSnapshot, session: str, attempt: int) -> str:
    """The text of the Task's commit: its title, in which forges find no user and no issue, and
    trailers that lead back to the objects."""
    meta = snapshot.task.metadata
    trailers = [
        f"Bernstein-Task: {meta.namespace}/{meta.name}",
        f"Bernstein-Session: {session}",
        f"Bernstein-Attempt: {attempt}",
    ]
    if snapshot.plan is not None:
        trailers.insert(0, f"Bernstein-Plan: {meta.namespace}/{snapshot.plan.metadata.name}")
    title = pull_request.defused(snapshot.task.spec.title, 200) or meta.name
    return f"{title}\n\n" + "\n".join(trailers) + "\n"
