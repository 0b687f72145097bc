"""Delivery of a Plan: its integration ref lands in the target branch."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial

from bernstein.api.delivery import Delivery
from bernstein.api.integration import Integration
from bernstein.api.plan import PlanStatus
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.api.verification import CheckResult, Origin
from bernstein.api.waiting import Cancel
from bernstein.core import names
from bernstein.core.actions import PlanDecision, RunFence
from bernstein.core.approvals import wholes
from bernstein.core.delivery import (
    attestation,
    end,
    landing,
    messages,
    proposal,
    pull_request,
    resolving,
)
from bernstein.core.delivery.may_merge import may_merge
from bernstein.core.delivery.proposed import closing, outdated, pushed
from bernstein.core.delivery.way import (
    Conflicted,
    JudgedCommit,
    Landed,
    Landing,
    OnItsWay,
    Prepared,
    Refused,
    Source,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.projects import repositories
from bernstein.core.sanitise import some
from bernstein.core.snapshot import PlanSnapshot, RepositorySnapshot
from bernstein.core.verification import round as rounds
from bernstein.core.verification import summary
from bernstein.core.verification.candidate import is_of_people
from bernstein.core.verification.expected import plan as verification
from bernstein.core.verification.round import Passed, Rejected, afresh, again
from bernstein.core.waiting import held, is_held, is_mended, is_stalled, waits


def deliver(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step of a Plan whose Tasks are all Closed, or that is delivered without the rest."""
    step = _deliver(_place(snapshot), status, now)
    return PlanDecision(phased(step.status), step.actions, step.requeue_after)


def _place(snapshot: PlanSnapshot) -> RepositorySnapshot:
    """What the Plan sees who works in one repository alone."""
    project = repositories.place_of_plan(snapshot.plan, snapshot.project)
    its = snapshot.at(project)
    if project is not None or snapshot.project is None:
        return its
    text = "the Project has no repository any more of the name that the Plan began in"
    return replace(its, project_problem=Diagnosis(Reason.REPOSITORY_NOT_FOUND, text))


def closes(
    snapshot: PlanSnapshot, status: PlanStatus, why: Cancel, now: datetime
) -> PlanDecision | PlanStatus:
    """One look at the pull request of a Plan that is cancelled; the status to end with, once that
    is closed or left open."""
    meta, project = snapshot.plan.metadata, _place(snapshot).project
    way = closing.Closing(
        job=snapshot.job,
        number=status.jobs + 1,
        comment=partial(pull_request.why_closed, "Plan", meta, project, why.reason),
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
    )
    match closing.step(status, way, now):
        case OnItsWay(at_work, actions, seconds):
            number = at_work.delivery.round if at_work.delivery is not None else 0
            update = {"phase": "Cancelling", "jobs": max(status.jobs, number)}
            return PlanDecision(at_work.model_copy(update=update), actions, seconds)
        case ended:
            return ended


def fences(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> tuple[RunFence, ...]:
    """For Jobs of a Plan that has begun which requests on their way may still make."""
    judged, asked = status.verification, None
    if judged is not None and snapshot.project is not None and status.integration is not None:
        asked = verification.question(snapshot, status.integration, judged)
    job = snapshot.job
    return end.fences(status, job, asked, snapshot.jobs, now)


def phased(status: PlanStatus) -> PlanStatus:
    """The phase of a Plan that delivers, and the number of the last Job that a landing made."""
    phase = "Stalled" if is_stalled(status) else "Delivering"
    if status.ended_at is not None:
        phase = "Succeeded"
    number = status.delivery.round if status.delivery is not None else 0
    return status.model_copy(update={"phase": phase, "jobs": max(status.jobs, number)})


def _deliver(snapshot: RepositorySnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    integration = status.integration
    assert integration is not None
    if integration.per is not None:
        return PlanDecision(_landed(status, _of_its_tasks(snapshot, integration, now), now))
    if snapshot.project is None:
        return _follow(snapshot, status, integration, now)
    judged = partial(_judged, integration)
    status = pushed.back(status, snapshot.project, judged, integration.tip)
    status = outdated.back(status, snapshot.project, ("Merged", "Closed"))
    if proposal.is_proposed(status):
        return _propose(snapshot, snapshot.project, status, integration, now)
    return _forward(snapshot, status, integration, now)


def _forward(
    snapshot: RepositorySnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanDecision:
    """The next step of work on its way to its branch, or to that of its pull request."""
    onto, changed = integration.target, integration.sha is not None
    rests = landing.at_rest(status, onto, snapshot, now, changed=changed)
    unjudged = status.verification is not None and status.verification.passed is not True
    if rests is None and unjudged and not landing.is_lost(status):
        return _verify(snapshot, status, integration, now)

    def forbids(before: PlanStatus) -> PlanStatus | None:
        return _may_not(snapshot, before, integration, now)

    way = _landing(snapshot, status, integration)
    match rests or landing.forward(status, way, forbids, now):
        case Prepared(status, candidate):
            return PlanDecision(again(status, candidate))
        case Landed(status, delivered):
            return PlanDecision(_landed(status, delivered, now))
        case Refused(status, why):
            return PlanDecision(pushed.stopped(status, why, now) or status)
        case Conflicted(status, text) as met:
            stopped = pushed.stopped(status, text, now)
            if stopped is not None:
                return PlanDecision(stopped)
            begun = resolving.begun(snapshot, status, met)
            return PlanDecision(begun or resolving.stands(snapshot, status, text, now))
        case step:
            return PlanDecision(step.status, step.actions, step.requeue_after)


def _propose(
    snapshot: RepositorySnapshot,
    project: Workplace,
    status: PlanStatus,
    integration: Integration,
    now: datetime,
) -> PlanDecision:
    """The next step of work that is at the branch of its pull request."""
    match proposal.step(status, _proposal(snapshot, project, status, integration), now):
        case Landed(status, delivered):
            return PlanDecision(_landed(pushed.without_no(status, delivered), delivered, now))
        case state:
            judged = partial(_judged, integration)
            newer = outdated.step(state.status, project, judged, now)
            status = pushed.without_no(newer.status, newer.status.delivery)
            if status.partial is None:
                why_not = partial(wholes.unverifiable, snapshot)
                status = pushed.step(status, project, judged, why_not, now).status
            return PlanDecision(status, state.actions, newer.requeue_after or state.requeue_after)


def _of_its_tasks(snapshot: PlanSnapshot, integration: Integration, now: datetime) -> Delivery:
    """Of a Plan whose Tasks have delivered each its own work: nothing more than that is to be
    done."""
    each = (task.status.delivery for task in snapshot.tasks.values())
    if not any(delivery is not None and delivery.state == "Merged" for delivery in each):
        return Delivery(state="NoChange", onto=integration.target)
    return Delivery(state="Merged", onto=integration.target, landed_at=now)


def _judged(integration: Integration, status: PlanStatus) -> PlanStatus:
    """The status with what is delivered as what was judged, where that was its last Task's."""
    if status.verification is not None:
        return status
    return again(status, verification.of_tip(None, integration))


def _proposal(
    snapshot: PlanSnapshot, project: Workplace, status: PlanStatus, integration: Integration
) -> proposal.Proposal:
    return proposal.Proposal(
        job=snapshot.job,
        number=status.jobs + 1,
        text=partial(pull_request.of_plan, snapshot, status, integration),
        whose="Plan",
        succeeds_on=project.spec.merge.pull_requests.succeed_on,
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
        resting=snapshot.resting,
    )


def _follow(
    snapshot: RepositorySnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanDecision:
    """One look at a landing that has begun, of a Plan whose Project, or repository there, is
    gone."""
    gone = snapshot.project_problem
    assert gone is not None
    if not landing.has_started(status):
        return PlanDecision(waits(status, gone.reason, gone.message, now, needs_person=True))
    step = landing.followed(status, _landing(snapshot, status, integration), gone, now)
    if isinstance(step, Landed):
        return PlanDecision(_landed(step.status, step.delivery, now))
    return PlanDecision(step.status, step.actions, step.requeue_after)


def _delivered(status: PlanStatus, integration: Integration) -> JudgedCommit:
    """What is delivered: the commit that was judged for the Plan, or else its Tasks' last one."""
    judged = status.verification
    if judged is not None:
        return JudgedCommit(judged.ref, judged.sha, judged.tree, judged.base)
    tree = integration.tree or ""
    return JudgedCommit(integration.ref, integration.tip, tree, integration.target_sha)


def _landing(snapshot: RepositorySnapshot, status: PlanStatus, integration: Integration) -> Landing:
    project = snapshot.project
    squash = project is not None and project.spec.merge.method == "Squash"
    signs = project is not None and project.spec.merge.signing is not None
    commit, theirs = _delivered(status, integration), pushed.origin(status.delivery)
    anew = squash and theirs is None
    return Landing(
        job=snapshot.job,
        number=status.jobs + 1,
        commit=commit,
        source=Source(
            origin=theirs or Origin(ref=integration.ref, sha=integration.tip),
            candidate=names.candidate_ref(integration.ref),
            message=messages.squash(snapshot, status) if anew else messages.merge(snapshot, status),
            merge=not anew,
            # Its last commit is that of a step, or of a person: a new one is signed.
            always=anew or signs,
            marks=resolving.marks(snapshot, status) if theirs is None else None,
            verified=_verified(status) if theirs is not None else None,
        ),
        onto=integration.target,
        tip=status.delivery.tip if status.delivery is not None else None,
        ours=False,
        conflict="the target moved, and the Plan's work conflicts with it in",
        attests=partial(attestation.of_plan, snapshot, status, integration),
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
        branch=_branch(snapshot, status, commit),
        branch_at=pushed.branch_at(status.delivery),
        signs=signs,
        resting=snapshot.resting,
    )


def _verified(status: PlanStatus) -> str | None:
    return status.delivery.sha if status.delivery is not None else None


def _branch(snapshot: RepositorySnapshot, status: PlanStatus, commit: JudgedCommit) -> str | None:
    """The branch of its pull request; None: it needs none. What has begun goes on as it began."""
    delivery, project, meta = status.delivery, snapshot.project, snapshot.plan.metadata
    if delivery is not None and (landing.has_started(status) or delivery.branch is not None):
        return delivery.branch
    if project is None or "pr" not in (project.spec.merge.strategy, snapshot.plan.spec.merge):
        return None
    if commit.sha == commit.base:
        return None  # the target has all of it
    part = status.jobs + 1 if status.partial is not None else None
    return names.pull_request_ref(meta.name, meta.uid, part, snapshot.place)


def _may_not(
    snapshot: RepositorySnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanStatus | None:
    """None where it may be merged; else the status that has it judged (again), or is Stalled."""
    unjudged = verification.to_judge(snapshot, status, integration)
    if unjudged is not None:
        return again(landing.without_turn(status), unjudged)
    delivered, candidate = _delivered(status, integration), status.verification
    why = ""
    if candidate is not None and is_of_people(candidate):
        why = wholes.without_yes(snapshot, candidate)
        stopped = pushed.stopped(landing.without_turn(status), why, now) if why else None
        if stopped is not None:
            return stopped
    if not why and may_merge(
        candidate or verification.of_last_task(snapshot, integration),
        sha=delivered.sha,
        tree=delivered.tree,
        # For the last Task's commit to_judge has compared its gates with those of now.
        expected=verification.specs_of(snapshot, candidate) if candidate is not None else (),
        # People are asked about each Task before it lands on the integration ref, by the policy of
        # that time. Their merge with the branch is for the checks alone: of the whole nothing could
        # be sent back.
        approved=True,
        bypasses_hold=True,
    ):
        return None
    text = "the tree on the integration ref is not the one that was verified"
    return waits(status, Reason.VERIFICATION_MISSING, text, now, needs_person=True)


def _verify(
    snapshot: RepositorySnapshot, status: PlanStatus, integration: Integration, now: datetime
) -> PlanDecision:
    """One look at the checks of a tree that has not passed yet."""
    judged = status.verification
    assert judged is not None
    if judged.passed is False:
        if status.waiting is None or not is_held(status):
            return PlanDecision(_rejected(snapshot, status, judged.checks, now))
        if not is_mended(status.waiting, snapshot.project):
            return PlanDecision(status)
        return PlanDecision(again(status, afresh(judged)))
    question = verification.question(snapshot, integration, judged)
    match rounds.take(status, question, snapshot.jobs, now):
        case Passed(status, actions):
            return PlanDecision(status, actions)
        case Rejected() as outcome:
            rejected = _rejected(snapshot, outcome.status, outcome.results, now)
            return PlanDecision(rejected, outcome.actions)
        case rounds.CannotRun(status, actions):
            return PlanDecision(status, actions)
        case rounds.Lost(status, why, actions):
            return PlanDecision(landing.lose(status, why, snapshot.project, now), actions)
        case waiting:
            return PlanDecision(waiting.status, waiting.actions, waiting.requeue_after)


def _rejected(
    snapshot: RepositorySnapshot,
    status: PlanStatus,
    results: tuple[CheckResult, ...],
    now: datetime,
) -> PlanStatus:
    """Held until the Project changes; then it is judged again."""
    which = summary.which(results)
    stopped = pushed.stopped(status, which, now)
    if stopped is not None:
        return stopped
    text = f"the Plan's work as a whole, on the target as it is now, does not pass: {which}"
    if let_on := _let_on(snapshot, results):
        text += f"; who let Tasks go on without {let_on} has said so of their commits alone"
    reason = summary.reason(results)
    remedy = "Apply a Plan that mends the code: signals cannot be changed."
    if reason != Reason.SIGNAL_FAILED:
        remedy = "Change the Project's gates, or apply a Plan that mends the code."
    return held(status, reason, text, snapshot.project, now, None, remedy=remedy)


def _let_on(snapshot: RepositorySnapshot, results: tuple[CheckResult, ...]) -> str:
    """Gates that said no to the whole, and without which people have let a Task go on."""
    judged = (task.status.verification for task in snapshot.tasks.values())
    without = {r.name for each in judged if each for r in each.checks if summary.is_bypassed(r)}
    names = [r.name for r in summary.rejected(results) if r.name in without]
    return some(names, len(names)) if names else ""


def _landed(status: PlanStatus, delivered: Delivery, now: datetime) -> PlanStatus:
    """It has succeeded, unless its pull request is to be opened."""
    ended_at = None if proposal.is_next(delivered) else now
    return status.model_copy(update={"delivery": delivered, "ended_at": ended_at})
