"""How far work is on its way to its branch: on it, there, or kept back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.cli.follow import succeeded
from bernstein.cli.naming import called
from bernstein.cli.output import notes
from bernstein.core import owners
from bernstein.core.fsm import VERIFYING, is_final
from bernstein.core.plans.places import view
from bernstein.core.plans.standstill import is_at_rest
from bernstein.core.sanitise import line, some
from bernstein.core.serializers import Document, task_status
from bernstein.core.tasks.retention import ended_at
from bernstein.core.waiting import is_held, is_stalled

APPROVAL_PENDING = "ApprovalPending"
_JUST_NOW = timedelta(minutes=15)
"""Longer than `bernstein pending` waits, which a script may call in between."""


@dataclass(frozen=True)
class End:
    """What has become of a Task or a Plan that was waited for."""

    subject: str
    """Kind and name, as people call it."""
    id: str
    good: bool
    reason: str = ""
    """Why it is not merged, in one word that stays the same between releases."""
    message: str = ""
    remedy: str = ""

    def record(self) -> Document:
        """For scripts; of what is not merged."""
        return {
            "id": self.id,
            "reason": self.reason,
            "message": self.message,
            "remedy": self.remedy,
        }


def is_deliverable(task: Task) -> bool:
    """The agent has reported success, and the work is not where it belongs yet."""
    return task.status.state in VERIFYING


def is_lost(task: Task, now: datetime) -> bool:
    """No Plan has made it, and it ended without being merged, just now: a script that has waited
    for it asks next what became of it."""
    if owners.plan_of(task) is not None or task.status.state is TaskState.CLOSED:
        return False
    ended = ended_at(task)
    return ended is not None and now - ended < _JUST_NOW


def has_failed(subject: Task | Plan) -> bool:
    """Its merge was tried, and needs a person: it can be asked for again."""
    status = subject.status
    if isinstance(status, PlanStatus) and status.repositories and status.ended_at is None:
        each = (view.status_in(status, row) for row in status.repositories if not row.delivered_at)
        return any(map(_has_failed, each))
    return _has_failed(status)


def _has_failed(status: TaskStatus | PlanStatus) -> bool:
    judged, waiting = status.verification, status.waiting
    if isinstance(status, TaskStatus) and (status.state is not TaskState.DONE or judged is None):
        return False
    if isinstance(status, PlanStatus) and (status.delivery is None or status.ended_at is not None):
        return False
    if judged is not None and judged.passed is not True:
        return False
    return waiting is not None and waiting.needs_person and is_held(status)


def is_due(plan: Plan, tasks: Iterable[Task]) -> bool:
    """All of its Tasks are Closed, and it has not ended: its delivery is what follows.

    `tasks` are those of the namespace; of one that is gone its row in the Plan tells.
    """
    if plan.status.ended_at is not None or plan.spec.cancel is not None:
        return False
    live = {t.metadata.name: t.status.state for t in tasks if _is_of(t, plan)}
    rows = plan.status.tasks
    states = [live.get(row.name, row.state) for row in rows]
    return bool(rows) and all(state == TaskState.CLOSED for state in states)


def _is_of(task: Task, plan: Plan) -> bool:
    return owners.plan_uid(task) == plan.metadata.uid


def of_task(task: Task, *, decided: bool, over: bool = False) -> End | None:
    """None while it is on its way. `decided`: a person had time to decide, or decided just now and
    the operator had time to see it, as a change of the Task. `over`: nobody waits any longer."""
    what, name, status = called(task), task.metadata.name, task.status
    seen = decided or status.observed_generation >= task.metadata.generation
    if status.state is TaskState.CLOSED:
        return End(what, name, good=True, message=notes.note(task, ""))
    if status.state is TaskState.PENDING_APPROVAL and not is_stalled(status):
        text = "it waits for the decision of a person"
        remedy = f"approve it with `bernstein approve {name}`, then ask again"
        end = End(what, name, False, APPROVAL_PENDING, text, remedy)
        return end if decided else None
    if status.waiting is not None and is_stalled(status) and seen:
        message, remedy = notes.explanation(status.waiting, task)
        return End(what, name, False, status.waiting.reason, " ".join(message.split()), remedy)
    if over and (proposed := _proposed(task)):
        return proposed
    if is_final(status, task.spec.max_retries):
        last = status.history[-1] if status.history else None
        reason = last.reason if last is not None else str(status.state)
        again = f"see why with `bernstein logs {name}`"
        return End(what, name, False, reason, f"it has ended: {task_status(task)}", again)
    return None


def of_plan(plan: Plan, tasks: Iterable[Task], *, over: bool = False) -> End | None:
    """None while it is on its way. `over`: nobody waits any longer."""
    what, name = called(plan), plan.metadata.name
    if succeeded(plan):
        return End(what, name, good=True, message=_delivered(plan, tasks))
    if plan.spec.suspend and plan.status.ended_at is None:
        again = f"let it go on with `bernstein resume {name}`"
        return End(what, name, False, "Suspended", "it is suspended", again)
    if over and (proposed := _proposed(plan)):
        return proposed
    if not is_at_rest(plan, [task for task in tasks if _is_of(task, plan)]):
        return None
    message, remedy = notes.ending(plan)
    reason = plan.status.waiting.reason if plan.status.waiting is not None else "NotDelivered"
    return End(what, name, False, reason, message, remedy)


def _delivered(plan: Plan, tasks: Iterable[Task]) -> str:
    """That it is, with the commits: those of its Tasks, where each has brought its own."""
    status = plan.status
    whole = [row.delivery for row in status.repositories] or [status.delivery]
    each = [landed for _, landed in notes.landings(plan, [t for t in tasks if _is_of(t, plan)])]
    shas = [d.sha[: notes.SHORT_SHA] for d in each or whole if d is not None and d.sha]
    return f"delivered {some(shas, len(shas))}" if shas else "delivered"


def waits_for_people(subject: Task | Plan) -> str | None:
    """What people have to merge, on the forge; None: nothing of it is proposed."""
    waiting = subject.status.waiting
    if waiting is None or waiting.reason != WaitReason.PULL_REQUEST_OPEN:
        return None
    return line(waiting.message, 1024)


def _proposed(subject: Task | Plan) -> End | None:
    message = waits_for_people(subject)
    if message is None:
        return None
    remedy = "merge it on the forge, then ask again"
    what, name = called(subject), subject.metadata.name
    return End(what, name, False, WaitReason.PULL_REQUEST_OPEN, message, remedy)


def deleted(subject: Plan | Task) -> End:
    text = "it was deleted before it was merged"
    return End(called(subject), subject.metadata.name, False, "NotFound", text)
