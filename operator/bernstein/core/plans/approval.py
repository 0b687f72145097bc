"""A Plan that people must approve before it begins.

checked ──▶ asked, in the status ──▶ its Tasks are made Planned ──▶ the Approval is made
                                                                        │
    begun, its Tasks Open ◀── approved ─────────────────────────────────┤
    cancelled, with its Tasks ◀── rejected, or nobody decided in time ──┘
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bernstein.api.meta import LONGEST_REASON, is_line
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.waiting import BY_USER, Cancel
from bernstein.core.actions import PlanAction, PlanDecision
from bernstein.core.approvals import asking, plans, policy
from bernstein.core.plans.standstill import deleted
from bernstein.core.sanitise import line
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.waiting import goes_on, waits

PHASE = TaskState.PENDING_APPROVAL.value
"""Called like the state of a Task that is asked about: who looks for the one finds the other."""


def asked(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status with what is to be asked now. Nothing is, where nobody must say yes (any more), or
    somebody has to what it would do now."""
    assert snapshot.project is not None
    question = plans.question(snapshot.plan, snapshot.project, status, snapshot.written_by)
    if question is not None:
        if asking.is_asked(status.approval, question):
            return status
        # Others begin meanwhile: people take hours.
        update = {"phase": PHASE, "beginning": None}
        return asking.ask(status, question, now).model_copy(update=update)
    left = asking.withdrawn(status)
    lacked = status.waiting is not None and status.waiting.reason == Reason.AUTHOR_MISSING
    return goes_on(left) if lacked or left is not status else status


def without_author(status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of one that asks nobody, and begins no more, before somebody stands for it."""
    left = asking.withdrawn(status).model_copy(update={"phase": "Pending", "beginning": None})
    return waits(left, Reason.AUTHOR_MISSING, policy.MISSING_AUTHOR, now, needs_person=True)


def step(
    snapshot: PlanSnapshot, status: PlanStatus, before: Sequence[PlanAction], now: datetime
) -> PlanDecision | None:
    """One look at the Approval, after the actions `before`; None: the Plan may begin."""
    assert snapshot.project is not None
    question = plans.question(snapshot.plan, snapshot.project, status, snapshot.written_by)
    if question is None:
        return None
    look = asking.look(status, question, snapshot.approvals, now)
    status = look.status
    if look.outcome is None:
        status = _without_deleted(snapshot, status, now).model_copy(update={"phase": PHASE})
    return PlanDecision(status, (*before, *look.actions), look.seconds)


def _without_deleted(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status that waits, and says what a yes would not bring back."""
    gone, waiting = deleted(snapshot), status.waiting
    if not gone or waiting is None:
        return status
    helps = f"`bernstein reject {snapshot.plan.metadata.name}`, then apply it under another name"
    text = f"{waiting.message}. {gone}, so that the Plan would end as Failed: {helps}"
    return waits(status, waiting.reason, text, now)


def ended(plan: Plan, status: PlanStatus) -> Cancel | None:
    """How its Tasks are cancelled where people have ended it: by a cancel, or by a decision; None:
    they have not."""
    if plan.spec.cancel is not None:
        return _in_a_line(plan.spec.cancel)
    asked_of = status.rejected
    if asked_of is None:
        return None
    by, phase = plans.decided_by(status), asked_of.asks.phase
    about = "its Plan" if phase is None else f"phase '{line(phase, 200)}' of its Plan"
    if asked_of.decision == "Expired":
        return Cancel(reason=f"nobody has decided about {about} in time", by=by)
    said = f": {asked_of.reason}" if asked_of.reason else ""
    reason = f"{about} was rejected by {asked_of.by}{said}"[:LONGEST_REASON]
    return _in_a_line(Cancel(reason=reason, by=by))


def _in_a_line(cancel: Cancel) -> Cancel:
    """As a Task may have it: an older release has taken reasons of several lines."""
    if is_line(cancel.reason):
        return cancel
    return Cancel(reason=line(cancel.reason, LONGEST_REASON) or BY_USER, by=cancel.by)
