"""A Task that somebody cancelled, whatever its state."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import names, runs
from bernstein.core.actions import RunFence, StopSession, TaskDecision, give_up
from bernstein.core.conditions import drop, is_cancelling
from bernstein.core.delivery import landing
from bernstein.core.fsm import move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import settle
from bernstein.core.tasks.done import decide_done
from bernstein.core.verification import round as rounds
from bernstein.core.verification.task import question
from bernstein.core.waiting import goes_on


def decide_cancel(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step towards Cancelled; a merge that has started is finished first."""
    assert snapshot.task.spec.cancel is not None
    reason = snapshot.task.spec.cancel.reason
    if not landing.has_started(status):
        status = goes_on(status)
    match status.state:
        case TaskState.CLAIMED | TaskState.IN_PROGRESS:
            return _cancel_running(snapshot, status, reason, now)
        case TaskState.ORPHANED:
            return TaskDecision(move(status, TaskState.FAILED, Reason.CANCELLED, now))
        case TaskState.DONE if landing.has_started(status):
            return decide_done(snapshot, landing.refuse_cancel(status, now), now)
        case _:
            return _cancel_now(snapshot, status, now)


def _cancel_running(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> TaskDecision:
    session = snapshot.session
    if session is not None and session.status.state is not SessionState.DEAD:
        return TaskDecision(status, (StopSession(Reason.CANCELLED),))
    if session is not None:
        status = settle(snapshot, session, status, Reason.CANCELLED, reason, counted=False)
    return TaskDecision(_cancelled(status, now))


def _cancel_now(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    jobs = snapshot.jobs.values()
    fences = _fences(snapshot, now)
    if fences or not all(runs.is_over(job, now) for job in jobs):
        return TaskDecision(status, (*fences, *give_up(jobs)), 2)
    return TaskDecision(_cancelled(status, now))


def _fences(snapshot: TaskSnapshot, now: datetime) -> tuple[RunFence, ...]:
    """For Jobs that requests on their way may still make; taken before the Task is `Cancelling`."""
    status, judged = snapshot.status, snapshot.status.verification
    if is_cancelling(status) or status.state is not TaskState.DONE or judged is None:
        return ()
    preparing = landing.unseen(
        status, partial(names.session_job, status.session or ""), snapshot.jobs
    )
    if snapshot.project is None:
        return preparing
    return (*preparing, *rounds.unseen(status, question(snapshot, judged), snapshot.jobs, now))


def _cancelled(status: TaskStatus, now: datetime) -> TaskStatus:
    """It ended because somebody asked for it; that an earlier look had refused that is over."""
    moved = move(status, TaskState.CANCELLED, Reason.CANCELLED, now, actor="user")
    left = drop(moved.conditions, ConditionType.CANCEL_REFUSED)
    return moved.model_copy(update={"ended_at": now, "conditions": left})
