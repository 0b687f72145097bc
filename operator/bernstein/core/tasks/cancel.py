"""A Task that somebody cancelled, whatever its state."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from bernstein.api.reasons import Reason
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import names
from bernstein.core.actions import Decision, RunFence, StopSession, TaskDecision
from bernstein.core.conditions import is_cancelling
from bernstein.core.delivery import end
from bernstein.core.delivery import task as deliveries
from bernstein.core.delivery.proposed import closing
from bernstein.core.fsm import move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import settle
from bernstein.core.tasks.parts import subtasks
from bernstein.core.verification.expected.task import question
from bernstein.core.waiting import goes_on


def decide_cancel(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step towards Cancelled. No merge has started."""
    assert snapshot.task.spec.cancel is not None
    reason = snapshot.task.spec.cancel.reason
    parts = subtasks.cancels(snapshot, goes_on(status), reason, _actor(snapshot))
    if isinstance(parts, Decision):
        return parts
    status = parts
    match status.state:
        case TaskState.CLAIMED | TaskState.IN_PROGRESS:
            return _cancel_running(snapshot, status, reason, now)
        case TaskState.ORPHANED:
            actor = _actor(snapshot)
            failed = move(status, TaskState.FAILED, Reason.CANCELLED, now, actor=actor)
            return TaskDecision(failed)
        case _:
            return _cancel_now(snapshot, status, reason, now)


def _cancel_running(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> TaskDecision:
    session = snapshot.session
    if session is not None and session.status.state is not SessionState.DEAD:
        return TaskDecision(status, (StopSession(Reason.CANCELLED),))
    closed = deliveries.closes(snapshot, status, reason, now)
    if isinstance(closed, Decision):
        return closed
    if session is not None:
        closed = settle(snapshot, session, closed, Reason.CANCELLED, reason, counted=False)
    return TaskDecision(_cancelled(snapshot, closed, now))


def _cancel_now(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> TaskDecision:
    if not closing.has_begun(status):
        actions = end.stop(_fences(snapshot, now), snapshot.jobs, now)
        if actions is not None:
            return TaskDecision(status, actions, end.CANCEL_SECONDS)
    closed = deliveries.closes(snapshot, status, reason, now)
    if isinstance(closed, Decision):
        return closed
    return TaskDecision(_cancelled(snapshot, closed, now))


def _fences(snapshot: TaskSnapshot, now: datetime) -> tuple[RunFence, ...]:
    """For Jobs that requests on their way may still make; taken before the Task is `Cancelling`."""
    status, judged = snapshot.status, snapshot.status.verification
    if is_cancelling(status) or status.state is not TaskState.DONE or judged is None:
        return ()
    job = partial(names.session_job, snapshot.prefix_of_jobs(status))
    asked = question(snapshot, judged) if snapshot.project is not None else None
    return end.fences(status, job, asked, snapshot.jobs, now)


def _cancelled(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """It ended because somebody asked for it, or decided so about its Plan."""
    actor = _actor(snapshot)
    return end.cancelled(move(status, TaskState.CANCELLED, Reason.CANCELLED, now, actor=actor), now)


def _actor(snapshot: TaskSnapshot) -> str:
    """Who has cancelled it: "user", where that one has not said so."""
    cancel = snapshot.task.spec.cancel
    return (cancel.by if cancel is not None else None) or "user"
