"""A Task that somebody cancelled, whatever its state."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from bernstein.api.reasons import Reason
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import names, runs
from bernstein.core.actions import RunFence, StopSession, TaskDecision, give_up
from bernstein.core.conditions import busy, cancelled, is_cancelling
from bernstein.core.delivery import landing
from bernstein.core.fsm import move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import settle
from bernstein.core.tasks.done import decide_done
from bernstein.core.verification import round as rounds
from bernstein.core.verification.task import question


def decide_cancel(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step towards Cancelled; a merge that has started is finished first."""
    assert snapshot.task.spec.cancel is not None
    reason = snapshot.task.spec.cancel.reason
    match status.state:
        case TaskState.CLAIMED | TaskState.IN_PROGRESS:
            return _cancel_running(snapshot, status, reason, now)
        case TaskState.ORPHANED:
            return TaskDecision(move(status, TaskState.FAILED, Reason.CANCELLED, now))
        case TaskState.DONE if landing.has_started(status):
            return decide_done(snapshot, landing.refuse_cancel(status, now), now)
        case _:
            return _cancel_now(snapshot, status, reason, now)


def _cancel_running(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> TaskDecision:
    session = snapshot.session
    if session is not None and session.status.state is not SessionState.DEAD:
        text = "the agent is asked to end"
        return TaskDecision(busy(status, "Cancelling", text, now), (StopSession(Reason.CANCELLED),))
    if session is not None:
        status = settle(snapshot, session, status, Reason.CANCELLED, reason, counted=False)
    return TaskDecision(_cancelled(status, reason, now))


def _cancel_now(
    snapshot: TaskSnapshot, status: TaskStatus, reason: str, now: datetime
) -> TaskDecision:
    jobs = snapshot.jobs.values()
    fences = _fences(snapshot, status, now)
    if fences or not all(runs.is_over(job, now) for job in jobs):
        text = "its checks are being ended"
        return TaskDecision(busy(status, "Cancelling", text, now), (*fences, *give_up(jobs)), 2)
    return TaskDecision(_cancelled(status, reason, now))


def _fences(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> tuple[RunFence, ...]:
    """For Jobs that requests on their way may still make; taken before the Task is `Cancelling`."""
    judged = status.verification
    if is_cancelling(status) or status.state is not TaskState.DONE or judged is None:
        return ()
    preparing = landing.unseen(
        status, partial(names.session_job, status.session or ""), snapshot.jobs
    )
    if snapshot.project is None:
        return preparing
    return (*preparing, *rounds.unseen(status, question(snapshot, judged), snapshot.jobs, now))


def _cancelled(status: TaskStatus, reason: str, now: datetime) -> TaskStatus:
    moved = move(status, TaskState.CANCELLED, Reason.CANCELLED, now, actor="user").model_copy(
        update={"ended_at": now, "hold": None, "queue": None}
    )
    return cancelled(moved, reason, now)
