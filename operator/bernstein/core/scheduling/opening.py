"""What the status of an Open Task says: why it waits, or that its next session is claimed."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.delivery import Delivery
from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan
from bernstein.api.states import TASK_BORN, TaskState
from bernstein.api.task import LONGEST_FEEDBACK, Split, Task, TaskStatus
from bernstein.api.waiting import Waiting
from bernstein.core import names
from bernstein.core.approvals import plans
from bernstein.core.conditions import note
from bernstein.core.fsm import move
from bernstein.core.routing.choose import route_of
from bernstein.core.sanitise import text as sanitise
from bernstein.core.scheduling import chain, expressions, parts
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.dependencies import groups_named
from bernstein.core.scheduling.occupancy import is_ending
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.waiting import says as are_words_of
from bernstein.core.waiting import trying
from bernstein.core.waiting import wait as wait_for
from bernstein.core.waiting import waits as waits_for


def is_new(status: TaskStatus) -> bool:
    """Whether nobody has looked at the Task yet. Its state is then the one that it was born with;
    an API server whose CRDs are older gives it none."""
    born = status.state is TASK_BORN and status.observed_generation < 0
    return status.state is None or born


def is_begun_by_schedule(task: Task, plan: Plan | None) -> bool:
    """Whether the schedule of its Project says the first of a new Task: that it starts, or why it
    waits. Its own reconcile does of one that has something else to be told, or no Project, or whose
    Plan a person has yet to approve."""
    status = task.status
    if status.state is None or not is_new(status):
        return False
    if plan is not None and plans.is_unapproved(plan.status):
        return False
    return not (is_ending(task) or task.spec.requests) and expressions.is_judged(task, status)


def may_start(task: Task, plan: Plan | None) -> bool:
    """Whether the schedule of its Project looks at it."""
    if is_new(task.status):
        return is_begun_by_schedule(task, plan)
    is_open = task.status.state is TaskState.OPEN and not is_ending(task)
    return is_open and expressions.is_judged(task, task.status)


def opened(
    task: Task, status: TaskStatus, now: datetime, state: TaskState = TaskState.OPEN
) -> TaskStatus:
    """The status of a new Task, with its first move: whoever looks first writes that, together with
    what comes next."""
    first = status.model_copy(
        update={
            "state": None,
            "observed_generation": task.metadata.generation,
            "started_at": now,
        }
    )
    return move(first, state, "Created", now)


def scheduled(snapshot: TaskSnapshot, now: datetime) -> TaskStatus:
    """The status of an Open Task that the schedule of its Project looks at, before it is told
    anything."""
    status = snapshot.task.status
    if not is_new(status):
        return status
    assert snapshot.project is not None
    opens = opened(snapshot.task, status, now)
    return opens.model_copy(update={"project": snapshot.project.metadata.name})


def waits(snapshot: TaskSnapshot, status: TaskStatus, wait: Wait, now: datetime) -> TaskStatus:
    """The status of a Task that does not start."""
    status = _with_dependencies(snapshot.task, status, wait, now)
    if (met := met_itself(status, wait)) is not None:
        again = met.model_copy(update={"until": None, "until_alone": None})
        return status.model_copy(update={"waiting": again})
    return waits_for(
        status,
        wait.reason,
        f"{wait.message}: {wait.detail}" if wait.detail else wait.message,
        now,
        needs_person=wait.needs_person,
        remedy=wait.remedy,
    )


def met_itself(status: TaskStatus, wait: Wait) -> Waiting | None:
    """What the Task has met itself, where another one tries the same first.

    It stays as it is: it says more than that it waits for the other one.
    """
    waiting = status.waiting
    if wait.by is not None or waiting is None or waiting.tried is None:
        return None
    return waiting if wait.reason == waiting.reason == waiting.tried.reason else None


def says(status: TaskStatus, wait: Wait) -> bool:
    """Whether the status says so already; what this leaves open is found out when it is made."""
    if wait.by is chain.held:
        return True
    if (met := met_itself(status, wait)) is not None:
        return met.until is None
    waiting = status.waiting
    if waiting is None or waiting.until is not None or waiting.reason != wait.reason:
        return False
    if wait.detail:
        return waiting.needs_person and waiting.message.startswith(f"{wait.message}: ")
    return are_words_of(
        waiting, wait.reason, wait.message, needs_person=wait.needs_person, remedy=wait.remedy
    )


def claimed(snapshot: TaskSnapshot, now: datetime) -> TaskStatus:
    """The status of a Task that starts: number and name of its session come before the session."""
    assert snapshot.project is not None
    status = _with_dependencies(snapshot.task, scheduled(snapshot, now), None, now)
    number = status.sessions + 1
    return move(status, TaskState.CLAIMED, "Scheduled", now).model_copy(
        update={
            "project_uid": snapshot.project.metadata.uid,
            "sessions": number,
            "session": names.session(snapshot.task.metadata.name, number),
            "waiting": still_waiting(snapshot, status, now),
            "verification": None,
            "delivery": _delivery(status),
            "model": route_of(snapshot).model,
        }
    )


def split(snapshot: TaskSnapshot, now: datetime) -> TaskStatus:
    """The status of a Task that its spec says the subtasks of: others start in its place."""
    assert snapshot.project is not None
    task = snapshot.task
    before = _with_dependencies(task, scheduled(snapshot, now), None, now)
    status = before.model_copy(
        update={
            "attempt": before.attempt + 1,
            "project_uid": snapshot.project.metadata.uid,
            "infrastructure_failures": 0,
            "blocked": None,
            "feedback": _told(before),
            "verification": None,
            "delivery": None,
        }
    )
    of = Split(number=parts.next_number(status), since=now)
    return parts.split(task, status, of, len(task.spec.subtasks), now)


def _told(status: TaskStatus) -> str | None:
    """What its subtasks are told of the time before: with what a person says who had it done anew.
    No session of its own would be."""
    block = status.blocked
    if block is None or not block.answer:
        return status.feedback
    told = (status.feedback, f"It was Blocked: {block.text}", f"A person answers: {block.answer}")
    return sanitise("\n".join(filter(None, told)), LONGEST_FEEDBACK)


def _delivery(status: TaskStatus) -> Delivery | None:
    """What stays of it: the pull request to which the work goes once more."""
    before = status.delivery
    if before is None or not before.request:
        return None
    return Delivery(state="Pending", onto=before.onto, round=before.round, **before.request)


def still_waiting(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> Waiting | None:
    """What its session finds out: whether it goes on to wait for what it has met before."""
    if status.waiting is None or (tried := status.waiting.tried) is None:
        return None
    again = trying(status, snapshot.project).waiting
    if again is not None:
        return again
    return wait_for(tried.reason, "its session tries whether it is mended", now, tried=tried)


def _with_dependencies(
    task: Task, status: TaskStatus, wait: Wait | None, now: datetime
) -> TaskStatus:
    """The status with the condition DependenciesMet, where the chain got as far as that link."""
    met, spec = chain.dependencies_met(wait), task.spec
    if met is None or not (spec.depends_on or groups_named(spec)):
        return status
    if wait is None or met:
        return note(status, ConditionType.DEPENDENCIES_MET, True, "AllClosed", "", now)
    return note(status, ConditionType.DEPENDENCIES_MET, False, wait.reason, wait.message, now)
