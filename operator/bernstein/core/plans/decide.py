"""Plan: validated, expanded into Tasks, begun, watched, delivered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from bernstein.api.meta import Condition, ConditionType
from bernstein.api.plan import DELIVERED_PARTIALLY, Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.requests import RefusalReason
from bernstein.api.waiting import WaitReason
from bernstein.core import conditions, progress, runs
from bernstein.core.actions import (
    CancelTasks,
    CreateTasks,
    Decision,
    PlanAction,
    PlanDecision,
    RunFence,
)
from bernstein.core.approvals import asking, plans
from bernstein.core.conditions import note
from bernstein.core.delivery import end
from bernstein.core.delivery import plan as plan_delivery
from bernstein.core.delivery.landing import has_started
from bernstein.core.delivery.retry import tried_again
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.fsm import is_final
from bernstein.core.plans import approval, part, requests
from bernstein.core.plans.enforced import enforced
from bernstein.core.plans.estimate import estimate
from bernstein.core.plans.expansion import expanding, expansion
from bernstein.core.plans.judgement import look_for_problems, problems_of
from bernstein.core.plans.nodes import run
from bernstein.core.plans.places import begin, several
from bernstein.core.plans.rows import in_place
from bernstein.core.plans.size import is_large
from bernstein.core.plans.standstill import blocked_by, rest, watch
from bernstein.core.plans.subtasks import rows as subtasks
from bernstein.core.plans.tally import tallied, tally
from bernstein.core.projects.readiness import not_ready
from bernstein.core.sanitise import count
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import (
    goes_on,
    is_mended,
    seconds_left,
    unblocked,
    waits,
)


def decide(snapshot: PlanSnapshot, now: datetime) -> PlanDecision:
    """The Plan's next step."""
    decision = _decide(replace(snapshot, tallied=tallied(snapshot)), now)
    status = decision.status
    if status.ended_at is not None:
        status = run.closed(asking.withdrawn(status))
    return replace(decision, status=progress.of_plan(snapshot.plan, status, now))


def look_ahead(snapshot: PlanSnapshot, now: datetime) -> Iterator[PlanSnapshot]:
    """Does in pieces what takes long in the decision about a large Plan that has no Tasks yet, or
    says something new: after each the snapshot, with what was found.

    The decision is the same without it.
    """
    plan, project, status = snapshot.plan, snapshot.project, snapshot.status
    is_judged = conditions.is_true(status.conditions, ConditionType.VALIDATED)
    is_done = status.expanded and is_judged and not _is_new(plan)
    if is_done or not _is_judged_next(snapshot) or not is_large(plan.spec):
        return
    assert project is not None
    if _is_new(plan) or not is_judged:
        for _ in look_for_problems(plan.spec, project.spec, snapshot.roles):
            yield snapshot
    if status.expanded or seconds_left(unblocked(status).waiting, project, now) is not None:
        return
    problems = problems_of(plan.spec, project.spec, snapshot.roles)
    if problems or plans.lacks_author(plan, project, status):
        return
    for found in expanding(snapshot):
        yield replace(snapshot, expansion=found)


def _is_judged_next(snapshot: PlanSnapshot) -> bool:
    """Whether nothing comes before that: what is not judged is looked at again at every event."""
    plan, project, status = snapshot.plan, snapshot.project, snapshot.status
    if project is None or (status.integration is None and not_ready(project) is not None):
        return False
    goes_on = approval.ended(plan, status) is None and not part.is_on_its_way(status)
    return goes_on and status.ended_at is None and plan.metadata.deletion_timestamp is None


def _is_new(plan: Plan) -> bool:
    """Whether it says something that nobody has looked at yet."""
    return plan.status.observed_generation != plan.metadata.generation


def _decide(snapshot: PlanSnapshot, now: datetime) -> PlanDecision:
    plan = snapshot.plan
    if requests.is_behind(snapshot):
        return PlanDecision(plan.status)
    changed = _is_new(plan)
    status = tally(snapshot).model_copy(
        update={
            "observed_generation": plan.metadata.generation,
            "started_at": plan.status.started_at or now,
        }
    )
    if plan.metadata.deletion_timestamp is not None:
        return PlanDecision(_without_turn(snapshot, status, now))
    if requests.goes_on_again(snapshot):
        status = requests.revived(status)
    answers = requests.answered(snapshot, status, now)
    step = _next(snapshot, answers.status, changed, now)
    return replace(step, actions=(*answers.actions, *step.actions))


def _next(snapshot: PlanSnapshot, status: PlanStatus, changed: bool, now: datetime) -> PlanDecision:
    plan = snapshot.plan
    if status.ended_at is not None:
        return PlanDecision(status, (*_cancel_late(snapshot), *end.stop_late(snapshot.jobs)))
    if approval.ended(plan, status) is not None and not part.outlives_cancel(status):
        return _cancel(snapshot, status, now)
    if part.is_on_its_way(status) and not plan.spec.suspend:
        return _without_the_rest(snapshot, status, now)
    if snapshot.project is None:
        return _without_project(snapshot, status, now)
    unready = not_ready(snapshot.project)
    if unready is not None and status.integration is None:
        return PlanDecision(_pending(status, Reason.PROJECT_NOT_READY, unready, now))
    status = status.model_copy(update={"project": snapshot.project.metadata.name})
    if changed or not conditions.is_true(status.conditions, ConditionType.VALIDATED):
        status = _validate(snapshot, status, now)
        if not conditions.is_true(status.conditions, ConditionType.VALIDATED):
            return PlanDecision(status)
    return _go_on(snapshot, status, now)


def _without_the_rest(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step of a Plan of which a part is delivered."""
    status = _with(status, conditions.drop(status.conditions, ConditionType.SUSPENDED))
    if snapshot.project is not None:
        status = _resumed(status, snapshot.project)
    return part.step(snapshot, status, now)


def _phase(status: PlanStatus, phase: str) -> PlanStatus:
    return status.model_copy(update={"phase": phase})


def _pending(status: PlanStatus, reason: str, text: str, now: datetime) -> PlanStatus:
    return waits(_phase(status, "Pending"), reason, text, now, needs_person=True)


def _without_project(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """It waits for a Project, or for a person: the one that it began under does not come back.

    What may be landing is followed to its end.
    """
    if has_started(status):
        return _land(snapshot, status, now)
    problem = snapshot.project_problem
    assert problem is not None
    pending = _pending(status, problem.reason, problem.message, now)
    return PlanDecision(pending if status.project_uid is None else _phase(pending, "Stalled"))


def _validate(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    assert snapshot.project is not None
    text = problems_of(snapshot.plan.spec, snapshot.project.spec, snapshot.roles)
    if text and not status.expanded:
        invalid = note(
            _phase(status, "Invalid"),
            ConditionType.VALIDATED,
            False,
            Reason.PLAN_INVALID,
            text,
            now,
        )
        return waits(invalid, Reason.PLAN_INVALID, text, now, needs_person=True)
    forecast = estimate(snapshot.plan.spec, snapshot.project.spec, snapshot.roles)
    status = note(status, ConditionType.VALIDATED, True, "Valid", "", now)
    return status.model_copy(update={"estimate": forecast})


def _go_on(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step of a valid Plan."""
    assert snapshot.project is not None
    status = enforced(status, snapshot.plan, snapshot.project, now)
    status = status.model_copy(update={"project_uid": snapshot.project.metadata.uid})
    actions: list[PlanAction] = []
    if not status.expanded or status.integration is None:
        step = _before_its_begin(snapshot, status, actions, now)
        if isinstance(step, Decision):
            return step
        status = step
    status = subtasks.with_rows(snapshot, status)
    actions += subtasks.cancels(snapshot, status)
    if snapshot.plan.spec.suspend:
        kind, why = ConditionType.SUSPENDED, WaitReason.SUSPENDED
        status = note(_phase(status, "Suspended"), kind, True, why, "", now)
        if has_started(status):
            return _finish_landing(snapshot, status, now)
        return PlanDecision(rest(snapshot, status, now), tuple(actions))
    status = _with(status, conditions.drop(status.conditions, ConditionType.SUSPENDED))
    status = _resumed(status, snapshot.project)
    strange = () if has_started(status) else tallied(snapshot).outside
    if strange:
        return PlanDecision(_strange(status, strange, now), tuple(actions))
    if not actions:
        its = run.step(snapshot, status, now)
        if isinstance(its, Decision):
            return its
        status = its
    if not actions and status.repositories and several.is_whole(snapshot, status):
        return several.deliver(snapshot, status, now)
    landed = None if actions or status.repositories else several.landed(snapshot, status, now)
    if landed is not None:
        return landed
    return PlanDecision(watch(snapshot, status, now), tuple(actions))


def _before_its_begin(
    snapshot: PlanSnapshot, status: PlanStatus, actions: list[PlanAction], now: datetime
) -> PlanDecision | PlanStatus:
    """Its Tasks are made; then people approve it, where they must; then it begins.

    Of one that has begun already: the status to go on with. What makes its Tasks is added to
    `actions`.
    """
    assert snapshot.project is not None
    if plans.lacks_author(snapshot.plan, snapshot.project, status):
        return PlanDecision(approval.without_author(status, now))
    before, status = status.approval, approval.asked(snapshot, status, now)
    if status.approval is not None and status.approval != before:
        # Its Tasks are made Planned: it stands here what is asked before there is one.
        return PlanDecision(status)
    if not status.expanded:
        seconds = seconds_left(status.waiting, snapshot.project, now)
        if seconds is not None:
            return PlanDecision(status, (), seconds)
        if snapshot.refused is not None:
            return PlanDecision(_refused(snapshot, status, snapshot.refused, now))
        status, its = _expanded(snapshot, goes_on(status))
        actions += its
    if status.integration is not None:
        return status
    step = approval.step(snapshot, status, actions, now)
    if step is not None:
        return step
    begun = begin.step(snapshot, status, now)
    return PlanDecision(begun.status, (*actions, *begun.actions), begun.requeue_after)


def _expanded(
    snapshot: PlanSnapshot, status: PlanStatus
) -> tuple[PlanStatus, tuple[CreateTasks, ...]]:
    """With a row for each step, and what makes its Tasks; nodes have theirs when they run."""
    if snapshot.plan.spec.workflow is not None:
        return run.begun(snapshot, status), ()
    its = snapshot.expansion or expansion(snapshot)
    rows = in_place(snapshot.plan.spec, status.tasks, its.names, its.repositories)
    status = status.model_copy(update={"expanded": True, "tasks": rows})
    return status, (CreateTasks(its.missing),)


def _refused(snapshot: PlanSnapshot, status: PlanStatus, why: str, now: datetime) -> PlanStatus:
    """Those of its Tasks that were made wait: it has not begun."""
    problem, resting = Diagnosis(Reason.POD_REJECTED, why), snapshot.resting
    return tried_again(_phase(status, "Pending"), problem, snapshot.project, now, resting=resting)


def _resumed(status: PlanStatus, project: Project) -> PlanStatus:
    """The status of a Plan that was suspended; where the Project has changed, that stays known."""
    waiting = status.waiting
    if waiting is None or waiting.reason != WaitReason.SUSPENDED or is_mended(waiting, project):
        return status
    return goes_on(status)


def _strange(status: PlanStatus, strange: tuple[str, ...], now: datetime) -> PlanStatus:
    """Work has landed that the Plan knows nothing of: nothing of it is delivered."""
    which = ", ".join(f"'{name}'" for name in strange[:5])
    how_many = f"{count(len(strange), 'Task')} {'is' if len(strange) == 1 else 'are'}"
    text = f"{how_many} Merged, but not in the Plan's ledger of landings: {which}"
    stalled = _phase(status, "Stalled")
    return waits(stalled, Reason.UNKNOWN_LANDING, text, now, needs_person=True)


def _finish_landing(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """A landing that has begun is followed to its end: its Job may push, suspended or not."""
    step = _land(snapshot, status, now)
    if step.status.ended_at is not None:
        left = conditions.drop(step.status.conditions, ConditionType.SUSPENDED)
        return replace(step, status=_with(step.status, left))
    return replace(step, status=_phase(step.status, "Suspended"))


def _land(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """One look at a landing that has begun."""
    if status.repositories:
        return several.follow(snapshot, status, now)
    deliver = part.deliver if part.is_on_its_way(status) else plan_delivery.deliver
    return deliver(snapshot, status, now)


def _with(status: PlanStatus, new: tuple[Condition, ...]) -> PlanStatus:
    return status.model_copy(update={"conditions": new})


def _without_turn(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a Plan that is being deleted: others begin once its Job does nothing more."""
    if all(runs.is_over(job, now) for job in snapshot.jobs.values()):
        return status.model_copy(update={"beginning": None})
    return status


def _cancel(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    cancel = approval.ended(snapshot.plan, status)
    assert cancel is not None
    if has_started(status):
        return _land(snapshot, end.refuse_cancel(status, now), now)
    fences = () if conditions.is_cancelling(status) else _fences(snapshot, status, now)
    status, tasks = goes_on(status), snapshot.tasks.values()
    unfinished = [t for t in tasks if not is_final(t.status, t.spec.max_retries)]
    if unfinished:
        to_cancel = _to_cancel(snapshot)
        status = blocked_by(unfinished, _phase(status, "Cancelling"), now)
        actions: tuple[PlanAction, ...] = (CancelTasks(to_cancel, cancel),) if to_cancel else ()
        return PlanDecision(status, (*fences, *actions))
    stops = None if several.is_closing(status) else end.stop(fences, snapshot.jobs, now)
    if stops is not None:
        return PlanDecision(_phase(status, "Cancelling"), stops, end.CANCEL_SECONDS)
    closes = several.closes if status.repositories else plan_delivery.closes
    closed = closes(snapshot, status, cancel, now)
    if isinstance(closed, Decision):
        return closed
    status = closed
    if part.is_on_its_way(status):
        status = part.refused(snapshot, status, RefusalReason.CANCELLED, "it was cancelled", now)
    return PlanDecision(end.cancelled(_phase(status, "Cancelled"), now))


def _cancel_late(snapshot: PlanSnapshot) -> tuple[CancelTasks, ...]:
    """For Tasks that got another round while their Plan was cancelled, or delivered without
    them."""
    if snapshot.plan.status.phase == DELIVERED_PARTIALLY:
        return part.cancel(snapshot)
    cancel = approval.ended(snapshot.plan, snapshot.plan.status)
    if cancel is None or snapshot.plan.status.phase != "Cancelled":
        return ()
    names = _to_cancel(snapshot)
    return (CancelTasks(names, cancel),) if names else ()


def _to_cancel(snapshot: PlanSnapshot) -> tuple[str, ...]:
    """Tasks that are not over, and not told yet."""
    going = (t for t in snapshot.tasks.values() if not is_final(t.status, t.spec.max_retries))
    return tuple(t.metadata.name for t in going if t.spec.cancel is None)


def _fences(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> tuple[RunFence, ...]:
    """For Jobs that requests on their way may still make; taken before the Plan is `Cancelling`."""
    if status.integration is not None:
        return several.fences(snapshot, status, now) or plan_delivery.fences(snapshot, status, now)
    if plans.is_unapproved(status):
        return ()
    return begin.fences(snapshot, status)
