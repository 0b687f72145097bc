"""Done: its work is judged, then delivered."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.task import TaskStatus
from bernstein.core.actions import TaskDecision
from bernstein.core.delivery import conflict, kept, landing
from bernstein.core.delivery.task import deliver
from bernstein.core.fsm import may_retry
from bernstein.core.scheduling import chain
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import fail
from bernstein.core.verification import round as rounds
from bernstein.core.verification import summary
from bernstein.core.verification.round import CannotRun, Passed, Rejected
from bernstein.core.verification.task import question
from bernstein.core.waiting import waits


def decide_done(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Task whose agent has reported success."""
    wait = chain.first(chain.OWNERS, snapshot, now)
    if wait is not None:
        return TaskDecision(waits(status, wait.reason, wait.message, now, needs_person=True))
    if status.verification is None:
        return TaskDecision(fail(snapshot, status, Reason.POD_LOST, now))
    if status.verification.passed is None and not landing.is_lost(status):
        return _verify(snapshot, status, now)
    return _deliver(snapshot, status, now)


def _deliver(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """What does not merge is done once more on the new tip, if an attempt is left."""
    decision = deliver(snapshot, status, now)
    found = decision.status
    if not conflict.is_met(found) or conflict.is_met(status):
        return decision
    if found.resolved or not may_retry(found, snapshot.task.spec.max_retries):
        return decision
    anew = fail(snapshot, conflict.begins_anew(found), Reason.MERGE_CONFLICT, now)
    return replace(decision, status=anew)


def _verify(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    assert status.verification is not None
    match rounds.take(status, question(snapshot, status.verification), snapshot.jobs, now):
        case Passed(status, actions):
            delivered = _deliver(
                snapshot, status.model_copy(update={"feedback": None, "rejected": None}), now
            )
            return replace(delivered, actions=(*actions, *delivered.actions))
        case Rejected() as outcome:
            rejected = _rejected(outcome)
            return TaskDecision(fail(snapshot, rejected, outcome.reason, now), outcome.actions)
        case CannotRun(status, actions):
            return TaskDecision(status, actions)
        case rounds.Lost(status, why, actions):
            return TaskDecision(landing.lose(status, why, snapshot.project, now), actions)
        case outcome:
            return TaskDecision(outcome.status, outcome.actions, outcome.requeue_after)


def _rejected(outcome: Rejected[TaskStatus]) -> TaskStatus:
    """The status with the verdict as feedback and as the reason of the last attempt, and its work.

    That attempt had reported success.
    """
    status, text = outcome.status, summary.feedback(outcome.results)
    last = {"reason": outcome.reason, "message": text[:500]}
    attempts = (*status.attempts[:-1], *(a.model_copy(update=last) for a in status.attempts[-1:]))
    left = kept.rejected_of_task(status)
    return status.model_copy(update={"feedback": text, "rejected": left, "attempts": attempts})
