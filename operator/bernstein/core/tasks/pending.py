"""PendingApproval, and Planned: a person decides whether it goes on."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.approvals.approval import APPROVE, RETRY
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core.actions import TaskDecision
from bernstein.core.approvals import asking, plans, policy, results
from bernstein.core.approvals.asking import Decided
from bernstein.core.delivery import end, kept, landing
from bernstein.core.fsm import move
from bernstein.core.scheduling import chain
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import fail
from bernstein.core.tasks.open import decide_open
from bernstein.core.verification import summary
from bernstein.core.waiting import goes_on, waits

NOT_NEEDED = "ApprovalNotNeeded"


def asked(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision | None:
    """PendingApproval, where a person must say yes to what was verified; None: nobody must.

    The status says what is asked before there is an Approval. A turn to land is given back: people
    take hours. While a candidate is made nobody is asked: its Job moves a ref of this Task, and
    people are asked about what it makes.
    """
    judged = status.verification
    if judged is None or landing.has_started(status) or landing.is_lost(status):
        return None
    if landing.is_making_candidate(status, judged.base):
        return None
    question = results.question(snapshot, status)
    if question is None:
        return None
    if policy.lacks_author(question.policy, policy.author_of(snapshot.task, snapshot.plan)):
        return TaskDecision(_lacks_author(landing.without_turn(status), now))
    pending = move(goes_on(status), TaskState.PENDING_APPROVAL, "ApprovalNeeded", now)
    return TaskDecision(asking.ask(landing.without_turn(pending), question, now))


def _lacks_author(status: TaskStatus, now: datetime) -> TaskStatus:
    """What was asked before there was the rule is asked no more: its author could decide."""
    status = asking.withdrawn(status)
    return waits(status, Reason.AUTHOR_MISSING, policy.MISSING_AUTHOR, now, needs_person=True)


def decide_pending(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Task whose work a person decides about."""
    question = results.question(snapshot, status)
    if question is None:
        return TaskDecision(move(goes_on(status), TaskState.DONE, NOT_NEEDED, now))
    if policy.lacks_author(question.policy, policy.author_of(snapshot.task, snapshot.plan)):
        return TaskDecision(_lacks_author(status, now))
    look = asking.look(status, question, snapshot.approvals, now)
    if look.outcome is not None:
        return TaskDecision(_decided(snapshot, look.status, look.outcome, now))
    return TaskDecision(look.status, look.actions, look.seconds)


def _decided(
    snapshot: TaskSnapshot, status: TaskStatus, outcome: Decided, now: datetime
) -> TaskStatus:
    """Approved it goes on to land; sent back it fails, and is tried again; else it is over."""
    actor = outcome.by or "operator"
    if outcome.decision == APPROVE:
        return move(status, TaskState.DONE, "Approved", now, actor=actor)
    if outcome.decision == RETRY:
        return fail(snapshot, _sent_back(status, outcome), Reason.REJECTED, now, actor=actor)
    reason = Reason.APPROVAL_EXPIRED if outcome.decision == "Expired" else Reason.REJECTED
    return end.cancelled(move(status, TaskState.CANCELLED, reason, now, actor=actor), now)


def _sent_back(status: TaskStatus, outcome: Decided) -> TaskStatus:
    """The status with the person's words as feedback, and the work for the next attempt to see."""
    said = outcome.reason or "no reason was given"
    text = f"A person has looked at it and sent it back: {said}"
    last = {"reason": Reason.REJECTED, "message": text[:500]}
    attempts = (*status.attempts[:-1], *(a.model_copy(update=last) for a in status.attempts[-1:]))
    left = kept.rejected_of_task(status)
    judged = status.verification
    feedback = summary.with_advice(text, judged.checks if judged is not None else ())
    return status.model_copy(update={"feedback": feedback, "rejected": left, "attempts": attempts})


def decide_planned(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """Open once a person has approved its Plan; until then nothing of it starts."""
    wait = chain.author_missing(snapshot, now)
    if wait is not None:
        return TaskDecision(waits(status, wait.reason, wait.message, now, needs_person=True))
    of_plan = snapshot.plan.status if snapshot.plan is not None else None
    asked_of = plans.pending(of_plan)
    if asked_of is not None:
        text = f"its Plan waits for a person to decide, as Approval '{asked_of.name}' asks"
        return TaskDecision(waits(status, WaitReason.AWAITING_APPROVAL, text, now))
    if plans.is_rejected(of_plan):
        text = "its Plan was rejected: it is cancelled next"
        return TaskDecision(waits(status, WaitReason.PLAN_CANCELLED, text, now))
    why = "Approved" if plans.was_approved(of_plan) else NOT_NEEDED
    actor = plans.decided_by(of_plan)
    opened = move(goes_on(status), TaskState.OPEN, why, now, actor=actor)
    return decide_open(snapshot, opened, now)
