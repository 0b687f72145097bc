"""What is said of a Plan's pull request: a Task of the Plan's own changes what that asks for.

    PullRequestOpen ── Heard ──▶ a row for a Task, in the Plan's status (`listens`)
            ▲                            │  `step` makes it, and looks at it
            │                            ▼
            │                    it lands in the integration ref ──▶ the whole is judged, pushed to
            │                            │                           the same branch, and proposed
            └── without result, or the pull request has ended meanwhile

Before it has landed the pull request stays as it was verified: people may merge it as it is.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import MAX_ROWS, PlanTask
from bernstein.api.states import TaskState
from bernstein.api.waiting import Cancel
from bernstein.core import names
from bernstein.core.actions import CancelTasks, PlanDecision
from bernstein.core.delivery import landing, resolving
from bernstein.core.delivery import plan as plan_delivery
from bernstein.core.delivery.proposed import pushed, watched
from bernstein.core.feedback import listening
from bernstein.core.feedback.listening import Heard, Listening
from bernstein.core.projects import repositories
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import goes_on

_TITLE = "Change what was said of the pull request"
_DESCRIPTION = """\
What this plan's tasks have done is proposed to people as one pull request. You start from all of
it. Change what the review of it asks for, which you are shown, and nothing else.
"""
_GIVEN_UP = Cancel(reason="it has come to nothing", by="operator")
_TOO_LATE = Cancel(reason="its pull request has ended meanwhile", by="operator")


def listens(snapshot: PlanSnapshot, decision: PlanDecision, now: datetime) -> PlanDecision:
    """One look at what is said of the pull request of a Plan, once its delivery was looked at."""
    status = decision.status
    project = repositories.place_of_plan(snapshot.plan, snapshot.project)
    if project is None or status.ended_at is not None or status.partial is not None:
        return decision
    way = Listening(
        job=snapshot.job,
        whose="Plan",
        project=project,
        jobs=snapshot.jobs,
        late=snapshot.late,
        refusal=_refusal(status),
    )
    match listening.step(status, way, now):
        case Heard(status):
            return replace(decision, status=_begun(snapshot, status), requeue_after=None)
        case step:
            again = [t for t in (decision.requeue_after, step.requeue_after) if t is not None]
            actions = (*decision.actions, *step.actions)
            phased = plan_delivery.phased(step.status)
            return PlanDecision(phased, actions, min(again, default=None))


def _refusal(status: PlanStatus) -> str | None:
    if pushed.holds(status.delivery):
        return pushed.HOLDS
    return "the Plan has no room for another Task" if len(status.tasks) >= MAX_ROWS else None


def _begun(snapshot: PlanSnapshot, status: PlanStatus) -> PlanStatus:
    """The status with a row for the Task that is to be made."""
    number = listening.feedback_of(status).times
    name = names.answerer(snapshot.plan.metadata.name, number, snapshot.place)
    where = status.tasks[0].repository
    row = PlanTask(name=name, stage="-", repository=where, answers=number)
    status = goes_on(status).model_copy(update={"tasks": (*status.tasks, row), "phase": "Running"})
    return _with(status, task=name)


def step(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision | None:
    """What is done about the Task at work; None: it goes on, or is over, or there is none."""
    row = _row(status)
    if row is None or row.state == TaskState.CLOSED:
        return None
    task = snapshot.tasks.get(row.name)
    if task is None:
        return resolving.make(snapshot, status, row, task_of, now) if row.uid is None else None
    if task.status.state is TaskState.CANCELLED or task.spec.cancel is not None:
        return None
    ended = _has_ended(snapshot, status)
    if not ended and not resolving.has_ended_badly(task):
        return None
    why = _TOO_LATE if ended else _GIVEN_UP
    running = goes_on(status).model_copy(update={"phase": "Running"})
    return PlanDecision(running, (CancelTasks((row.name,), why),))


def back(snapshot: PlanSnapshot, status: PlanStatus) -> PlanStatus:
    """The status of a Plan whose Task for that has ended: what it has landed is delivered by the
    same pull request; where it has landed nothing, that is waited for as before."""
    row, delivery = _row(status), status.delivery
    if row is None or delivery is None:
        return status
    status = _with(goes_on(status), task=None)
    if row.state != TaskState.CLOSED or not delivery.is_proposed or _has_ended(snapshot, status):
        return status
    assert status.delivery is not None
    update = {"state": "Pending", "step": None, "reason": None, "message": None}
    status = status.model_copy(update={"delivery": status.delivery.model_copy(update=update)})
    return status if status.verification is None else landing.on_newer_tip(status)


def task_of(snapshot: PlanSnapshot, row: PlanTask) -> dict[str, Any]:
    """The object of the Task; what was said is no word of it, but data of its prompt."""
    return resolving.extra_task(snapshot, row, _TITLE, _DESCRIPTION)


def _row(status: PlanStatus) -> PlanTask | None:
    name = listening.feedback_of(status).task
    return next((row for row in status.extra if row.name == name), None)


def _has_ended(snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """People have merged or closed the pull request meanwhile."""
    project = repositories.place_of_plan(snapshot.plan, snapshot.project)
    pull = status.delivery.pull_request if status.delivery is not None else None
    row = watched.row_of(pull, project) if pull is not None and project is not None else None
    return row is not None and row.state != "Open"


def _with(status: PlanStatus, task: str | None) -> PlanStatus:
    assert status.delivery is not None
    feedback = listening.feedback_of(status).model_copy(update={"task": task})
    delivery = status.delivery.model_copy(update={"feedback": feedback})
    return status.model_copy(update={"delivery": delivery})
