"""What people have decided about work, in words: who, what follows, and why."""

from __future__ import annotations

from bernstein.api.approvals.approval import APPROVE, AskedApproval
from bernstein.api.task import Move, TaskStatus
from bernstein.api.verification import Verification
from bernstein.core.sanitise import line

APPROVED, BYPASSED, NOT_NEEDED = "Approved", "Bypassed", "ApprovalNotNeeded"
"""Why what waited for a person goes on."""
_NO = ("Reject", "Retry", "Expired")
_NAME = 300
_REASON = 300


def goes_on(move: Move, judged: Verification | None) -> str:
    """What follows from this move of work from PendingApproval to Done."""
    if move.reason == APPROVED:
        return f"it goes on to land, approved by {line(move.actor, _NAME)}"
    if move.reason in _NO:
        return "what was pushed to its pull request stays unverified: it was not approved"
    if move.reason != BYPASSED:
        return "it goes on: nobody has to decide about it any more"
    for result in judged.checks if judged is not None else ():
        bypass = result.bypass
        if bypass is not None and bypass.time == move.time:
            who = f"'{result.name}', by {line(bypass.by, _NAME)}"
            return f"it is judged on without a gate: {who}: {line(bypass.reason, _REASON)}"
    return f"it is judged on without a gate, by {line(move.actor, _NAME)}"


def approval_of(status: TaskStatus) -> AskedApproval | None:
    """The yes to the work of the last attempt; None: nobody has said it, or had to."""
    asked = status.approval
    if asked is None or asked.decision != APPROVE or asked.asks.gate is not None:
        return None
    return asked if asked.asks.attempt == status.attempt else None


def by_whom(by: str | None, reason: str | None) -> str:
    """Such as ` by ann, who says: it is due`."""
    why = line(reason or "", 1024)
    return f" by {line(by or '?', _NAME)}" + (f", who says: {why}" if why else "")
