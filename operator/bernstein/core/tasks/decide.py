"""Task: from Open to Closed, one reconcile at a time.

`decide` is a function of a snapshot and the time. It never trusts an agent: Done needs a session
whose work is on the remote, Closed needs the verdicts of every check on exactly the tree that
landed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial

from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import progress
from bernstein.core.actions import TaskDecision
from bernstein.core.approvals import asking
from bernstein.core.delivery import end, landing
from bernstein.core.delivery.task import deliver, follow
from bernstein.core.scheduling import chain, opening
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import requests, retention
from bernstein.core.tasks.blocked import decide_blocked
from bernstein.core.tasks.cancel import decide_cancel
from bernstein.core.tasks.done import decide_done
from bernstein.core.tasks.failed import decide_failed, decide_orphaned
from bernstein.core.tasks.leaving import decide_leaving
from bernstein.core.tasks.open import decide_new, decide_open
from bernstein.core.tasks.parts.subtasks import decide_waiting
from bernstein.core.tasks.pending import decide_pending, decide_planned
from bernstein.core.tasks.running import as_its_session, decide_running
from bernstein.core.waiting import waits

_STEPS: Mapping[TaskState, Callable[[TaskSnapshot, TaskStatus, datetime], TaskDecision]] = {
    TaskState.PLANNED: decide_planned,
    TaskState.OPEN: decide_open,
    TaskState.CLAIMED: decide_running,
    TaskState.IN_PROGRESS: decide_running,
    TaskState.BLOCKED: decide_blocked,
    TaskState.WAITING_FOR_SUBTASKS: decide_waiting,
    TaskState.ORPHANED: decide_orphaned,
    TaskState.FAILED: decide_failed,
    TaskState.DONE: decide_done,
    TaskState.PENDING_APPROVAL: decide_pending,
}
_WITH_OWNERS = (
    TaskState.PLANNED,
    TaskState.BLOCKED,
    TaskState.WAITING_FOR_SUBTASKS,
    TaskState.DONE,
    TaskState.PENDING_APPROVAL,
)
"""States in which nothing is done, but to cancel it, while its Project or its Plan is gone. An Open
one asks its schedule, and a session that is at work goes on."""


def decide(snapshot: TaskSnapshot, now: datetime) -> TaskDecision:
    """The Task's next step; for one that is being deleted nothing is begun any more."""
    if snapshot.task.metadata.deletion_timestamp is not None:
        return decide_leaving(snapshot, partial(_landing, snapshot, now=now), now)
    decision = _decide(snapshot, now)
    status = as_its_session(snapshot, decision.status, now)
    if status.state is not TaskState.PENDING_APPROVAL:
        status = asking.withdrawn(status)
    decision = replace(decision, status=progress.of_task(snapshot.task, status, now))
    return retention.applied(snapshot, decision, now)


def is_left_to_schedule(snapshot: TaskSnapshot) -> bool:
    """Whether there is nothing to decide yet: see `opening.is_begun_by_schedule`."""
    return snapshot.project is not None and opening.is_begun_by_schedule(
        snapshot.task, snapshot.plan
    )


def _of_now(snapshot: TaskSnapshot) -> TaskStatus:
    """The status with the Project that it belongs to, for what was read now."""
    task = snapshot.task
    status = task.status.model_copy(
        update={
            "observed_generation": task.metadata.generation,
            "project": snapshot.project.metadata.name if snapshot.project else task.status.project,
        }
    )
    if status.sessions and status.ended_at is None and snapshot.project is not None:
        status = status.model_copy(update={"project_uid": snapshot.project.metadata.uid})
    return status


def _decide(snapshot: TaskSnapshot, now: datetime) -> TaskDecision:
    status = _of_now(snapshot)
    if opening.is_new(snapshot.status):
        return decide_new(snapshot, status, now)
    asked = requests.answered(snapshot, status, now)
    if asked.status is not status:
        return asked
    decision = _of_its_state(snapshot, status, now)
    return replace(decision, actions=(*asked.actions, *decision.actions))


def _of_its_state(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    if status.state in (TaskState.CLOSED, TaskState.CANCELLED):
        return TaskDecision(status, end.stop_late(snapshot.jobs))
    if snapshot.task.spec.cancel is not None:
        if status.state is not TaskState.DONE or not landing.has_started(status):
            return decide_cancel(snapshot, status, now)
        status = end.refuse_cancel(status, now)
    if status.state in _WITH_OWNERS:
        wait = chain.first(chain.OWNERS, snapshot, now)
        if wait is not None:
            return _without_owners(snapshot, status, wait, now)
    assert status.state is not None
    step = _STEPS.get(status.state)
    return step(snapshot, status, now) if step is not None else TaskDecision(status)


def _landing(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """One look at what may be landing of a Task that is being deleted."""
    wait = chain.first(chain.OWNERS, snapshot, now)
    if wait is not None:
        return _without_owners(snapshot, status, wait, now)
    return deliver(snapshot, status, now)


def _without_owners(
    snapshot: TaskSnapshot, status: TaskStatus, wait: chain.Wait, now: datetime
) -> TaskDecision:
    """It waits for a person; but what may be landing is followed to its end, whoever is gone."""
    lands = status.state is TaskState.DONE and landing.has_started(status)
    if lands and snapshot.project_problem is not None and status.verification is not None:
        return follow(snapshot, status, snapshot.project_problem, now)
    return TaskDecision(waits(status, wait.reason, wait.message, now, needs_person=True))
