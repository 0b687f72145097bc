"""PendingApproval, and Planned: a person decides whether it goes on."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.approvals.approval import APPROVE, RETRY
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core.actions import Decision, TaskDecision
from bernstein.core.approvals import asking, bypass, plans, policy, results
from bernstein.core.approvals.answers import APPROVED, BYPASSED, NOT_NEEDED, by_whom
from bernstein.core.approvals.asking import Decided, Question
from bernstein.core.delivery import end, landing
from bernstein.core.delivery import task as deliveries
from bernstein.core.delivery.proposed import closing, pushed
from bernstein.core.fsm import move
from bernstein.core.scheduling import chain
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import rejection
from bernstein.core.tasks.attempts import fail
from bernstein.core.tasks.open import decide_open
from bernstein.core.verification import round as rounds
from bernstein.core.verification import summary
from bernstein.core.verification.candidate import is_of_people, origin_of
from bernstein.core.verification.look import judging_late
from bernstein.core.waiting import goes_on, waits

APPROVAL_NEEDED = "ApprovalNeeded"
BYPASS_NEEDED = "BypassNeeded"
"""Without a person's yes, to go on without a gate, the work is rejected."""


def asked(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision | None:
    """PendingApproval, where a person must say yes to what was verified, or may let go on what was
    rejected; None: nobody must, or may.

    The status says what is asked before there is an Approval. A turn to land is given back: people
    take hours. While a candidate is made nobody is asked: its Job moves a ref of this Task, and
    people are asked about what it makes.
    """
    judged = status.verification
    if judged is None or landing.has_started(status) or landing.is_lost(status):
        return None
    if landing.is_making_candidate(status, judged.base):
        return None
    question = _question(snapshot, status)
    if question is None:
        return None
    if policy.lacks_author(question.policy, policy.author_of(snapshot.task, snapshot.plan)):
        return TaskDecision(_lacks_author(landing.without_turn(status), now))
    why = APPROVAL_NEEDED if question.asks.gate is None else BYPASS_NEEDED
    pending = move(goes_on(status), TaskState.PENDING_APPROVAL, why, now)
    return TaskDecision(asking.ask(landing.without_turn(pending), question, now))


def _question(snapshot: TaskSnapshot, status: TaskStatus) -> Question | None:
    judged = status.verification
    if judged is not None and judged.passed is False:
        return bypass.question(snapshot, status)
    return results.question(snapshot, status)


def said_no(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of work that a required check has rejected: Failed, unless a person is asked
    whether it goes on without a gate."""
    pending = asked(snapshot, status, now)
    return pending if pending is not None else TaskDecision(_rejected(snapshot, status, now))


def _rejected(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    assert status.verification is not None
    reason = summary.reason(status.verification.checks)
    return fail(snapshot, rejection.by_checks(status), reason, now)


def _lacks_author(status: TaskStatus, now: datetime) -> TaskStatus:
    """What was asked before there was the rule is asked no more: its author could decide."""
    status = asking.withdrawn(status)
    return waits(status, Reason.AUTHOR_MISSING, policy.MISSING_AUTHOR, now, needs_person=True)


def decide_pending(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskDecision:
    """The next step of a Task whose work a person decides about, which may be its end."""
    said = status.approval
    if closing.has_begun(status) and said is not None and said.decision is not None:
        no = Decided(said.decision, said.by or "", said.reason or "")
        return _over(snapshot, status, no, now)
    work = origin_of(status.verification).sha if status.verification is not None else None
    moved = pushed.back(status, snapshot.project, lambda same: same, work)
    if moved is not status:
        return TaskDecision(move(goes_on(moved), TaskState.DONE, NOT_NEEDED, now))
    late = judging_late(status, snapshot.jobs, now)
    if late is not None:
        return TaskDecision(*late)
    question = _question(snapshot, status)
    if question is None:
        return TaskDecision(_not_asked(snapshot, status, now))
    if policy.lacks_author(question.policy, policy.author_of(snapshot.task, snapshot.plan)):
        return TaskDecision(_lacks_author(status, now))
    look = asking.look(status, question, snapshot.approvals, now)
    if look.outcome is not None:
        return _decided(snapshot, look.status, look.outcome, now)
    return TaskDecision(look.status, look.actions, look.seconds)


def _not_asked(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    """What waited for a person goes on; without a yes that no person may give any more, rejected
    work is, unless other checks are to judge it by now."""
    judged = status.verification
    if judged is None or judged.passed is not False:
        return move(goes_on(status), TaskState.DONE, NOT_NEEDED, now)
    if not bypass.is_outdated(snapshot, judged):
        return _rejected(snapshot, status, now)
    done = move(goes_on(status), TaskState.DONE, NOT_NEEDED, now)
    return rounds.again(done, rounds.afresh(judged))


def _decided(
    snapshot: TaskSnapshot, status: TaskStatus, outcome: Decided, now: datetime
) -> TaskDecision:
    """Approved it goes on, to land or to be judged without a gate; sent back it fails, and is tried
    again; else it is over. Where nobody says anything of a gate, it is this that has decided."""
    actor = outcome.by or "operator"
    is_bypass = status.approval is not None and status.approval.asks.gate is not None
    if outcome.decision == APPROVE and is_bypass:
        without = bypass.bypassed(snapshot, status, outcome, now)
        return TaskDecision(move(without, TaskState.DONE, BYPASSED, now, actor=actor))
    if outcome.decision == "Expired" and is_bypass:
        return TaskDecision(_rejected(snapshot, status, now))
    if outcome.decision == APPROVE:
        return TaskDecision(move(status, TaskState.DONE, APPROVED, now, actor=actor))
    if (theirs := _of_people(status, outcome, now)) is not None:
        return TaskDecision(move(theirs, TaskState.DONE, outcome.decision, now, actor=actor))
    if outcome.decision == RETRY:
        sent_back = rejection.by_person(status, outcome)
        return TaskDecision(fail(snapshot, sent_back, Reason.REJECTED, now, actor=actor))
    return _over(snapshot, status, outcome, now)


def _of_people(status: TaskStatus, outcome: Decided, now: datetime) -> TaskStatus | None:
    """The status after a no to what people have pushed to its pull request, which stays what it was
    before; None: it is a no to an agent's work."""
    if status.verification is None or not is_of_people(status.verification):
        return None
    said = by_whom(outcome.by, outcome.reason) if outcome.by else ": nobody has decided in time"
    return pushed.stopped(status, f"it was not approved{said}", now)


def _over(
    snapshot: TaskSnapshot, status: TaskStatus, outcome: Decided, now: datetime
) -> TaskDecision:
    """It ends for good, once the pull request of earlier work of it is not open any more."""
    closed = deliveries.closes(snapshot, status, outcome.reason or "", now)
    if isinstance(closed, Decision):
        return closed
    reason = Reason.APPROVAL_EXPIRED if outcome.decision == "Expired" else Reason.REJECTED
    over, actor = rejection.for_good(closed, reason, outcome), outcome.by or "operator"
    ended = move(over, TaskState.CANCELLED, reason, now, actor=actor)
    return TaskDecision(end.cancelled(ended, now))


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
    why = APPROVED if plans.was_approved(of_plan) else NOT_NEEDED
    actor = plans.decided_by(of_plan)
    opened = move(goes_on(status), TaskState.OPEN, why, now, actor=actor)
    return decide_open(snapshot, opened, now)
