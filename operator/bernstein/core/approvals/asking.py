"""A question to people, of a Task and of a Plan alike: what exactly is asked, and what came of it.

    asked ──▶ the Approval is there ──▶ Decided: by a person, or expired
      │               │
      │               └─ undecided, and gone: it is made again, under the same name
      └─ what it is about has changed: another question, under another name; the old one is void,
         and stays it: the same question, asked once more, is another Approval, too

A question that nobody has answered, and that is asked no more, is withdrawn: it leaves the status,
and its Approval is void.

What is asked stands in the subject's status before there is an Approval, and the decision from when
it is acted upon. So deleting an Approval changes nothing that was decided.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

from bernstein.api.approvals.approval import (
    APPROVE,
    Approval,
    ApprovalSpec,
    AskedApproval,
    Asks,
)
from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.meta import API_VERSION, APPROVAL_KIND, Metadata
from bernstein.api.waiting import WaitReason
from bernstein.core import labels, names
from bernstein.core.actions import CreateApproval
from bernstein.core.owners import owner_reference
from bernstein.core.sanitise import line
from bernstein.core.waiting import Waits, goes_on, waits

_REASON = 1000


class Asking(Waits, Protocol):
    """What is read and written of the status of a Task or a Plan."""

    @property
    def approval(self) -> AskedApproval | None: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


S = TypeVar("S", bound=Asking)


@dataclass(frozen=True)
class Question:
    """What a person is to be asked."""

    kind: Literal["Task", "Plan"]
    subject: Metadata
    asks: Asks
    because: tuple[str, ...]
    policy: ApprovalPolicy

    def name(self, since: datetime) -> str:
        """Of the Approval that asks this since then: no other has it, not even of the same.

        A question that comes back has a new one: what was decided about the old one while
        something else was asked shall have no effect, and what is void can be decided no more.
        """
        asked = [self.subject.uid, self.asks.dump(), since.isoformat()]
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
        return names.approval(self.subject.name, digest)


@dataclass(frozen=True)
class Decided:
    """What came of a question."""

    decision: Literal["Approve", "Reject", "Retry", "Expired"]
    by: str
    """Who decided; "": time."""
    reason: str


def ask(status: S, question: Question, now: datetime) -> S:
    """The status that asks, and waits for a person; one that asks the same already waits on."""
    asked = status.approval
    if not is_asked(asked, question):
        seconds = question.policy.expires_after_seconds
        asked = AskedApproval(
            name=question.name(now),
            asks=question.asks,
            because=question.because,
            since=now,
            until=None if seconds is None else now + timedelta(seconds=seconds),
        )
        status = status.model_copy(update={"approval": asked})
    assert asked is not None
    return waits(status, WaitReason.AWAITING_APPROVAL, _told(question, asked), now)


@dataclass(frozen=True)
class Look(Generic[S]):
    """What one look at a question comes to."""

    status: S
    outcome: Decided | None = None
    """None: a person has yet to decide."""
    actions: tuple[CreateApproval, ...] = ()
    seconds: float | None = None
    """Until it is to be looked at again at the latest."""


def look(
    status: S, question: Question, approvals: Mapping[str, Approval], now: datetime
) -> Look[S]:
    """One look: what is asked is written down first, then there is an Approval, then somebody
    decides."""
    asks = ask(status, question, now)
    assert asks.approval is not None
    if asks.approval != status.approval:
        return Look(asks)
    outcome = decided(asks.approval, approvals, now)
    if outcome is not None:
        return Look(answered(asks, outcome, now), outcome)
    return Look(
        asks, None, create(question, asks.approval, approvals), seconds_left(asks.approval, now)
    )


def is_asked(asked: AskedApproval | None, question: Question) -> bool:
    """Whether exactly this is asked, and nobody has decided."""
    return asked is not None and asked.decision is None and asked.asks == question.asks


def _told(question: Question, asked: AskedApproval) -> str:
    why = "; ".join(question.because)
    return f"a person must decide, as Approval '{asked.name}' asks: {why}"


def create(
    question: Question, asked: AskedApproval, approvals: Mapping[str, Approval]
) -> tuple[CreateApproval, ...]:
    """The Approval, where there is none: it was never made, or somebody has deleted it."""
    if asked.name in approvals:
        return ()
    return (CreateApproval(_manifest(question, asked.name)),)


def decided(
    asked: AskedApproval, approvals: Mapping[str, Approval], now: datetime
) -> Decided | None:
    """What came of it; None: a person has yet to decide. Nothing is ever approved by time."""
    approval = approvals.get(asked.name)
    if approval is not None and approval.spec.asks == asked.asks:
        spec = approval.spec
        if _counts(spec, asked.asks):
            assert spec.decision is not None
            return Decided(spec.decision, spec.decided_by or "", line(spec.reason or "", _REASON))
    if asked.until is not None and now >= asked.until:
        return Decided("Expired", "", "nobody has decided in time")
    return None


def _counts(spec: ApprovalSpec, asks: Asks) -> bool:
    """Whether this is a decision; the rules of an older CRD let more of them through."""
    if spec.decision is None or spec.decided_by in (None, asks.not_by):
        return False
    return asks.gate is None or spec.decision != APPROVE or bool(line(spec.reason or "", _REASON))


def seconds_left(asked: AskedApproval, now: datetime) -> float | None:
    """Until it expires; None: it never does."""
    return None if asked.until is None else max((asked.until - now).total_seconds(), 0.0)


def answered(status: S, outcome: Decided, now: datetime) -> S:
    """The status that knows what came of it, and waits no more."""
    assert status.approval is not None
    update = {
        "decision": outcome.decision,
        "by": outcome.by or None,
        "reason": outcome.reason or None,
        "time": now,
    }
    told = status.approval.model_copy(update=update)
    return goes_on(status.model_copy(update={"approval": told}))


def withdrawn(status: S) -> S:
    """The status that asks nobody any more; what was decided stays known."""
    if status.approval is None or status.approval.decision is not None:
        return status
    return status.model_copy(update={"approval": None})


def is_approved(asked: AskedApproval | None, question: Question) -> bool:
    """Whether a person has said yes to exactly this.

    Where the policy keeps an approval on a moved base, yes to the same change of the same attempt
    is enough there: it was verified again.
    """
    if asked is None or asked.decision != APPROVE or asked.by is None:
        return False
    if asked.by == question.asks.not_by:
        return False
    if _without_author(asked.asks) == _without_author(question.asks):
        return True
    if question.policy.moved_base != "Keep" or question.asks.work is None:
        return False
    if asked.asks.gate is not None or question.asks.gate is not None:
        return False
    same = (asked.asks.attempt, asked.asks.work) == (question.asks.attempt, question.asks.work)
    moved = asked.asks.base != question.asks.base
    return same and moved and set(question.because) <= set(asked.because)


def _without_author(asks: Asks) -> Asks:
    """Who may not decide is looked at apart: a rule that came later is no other question."""
    return asks.model_copy(update={"not_by": None})


def _manifest(question: Question, name: str) -> dict[str, Any]:
    subject = question.subject
    return {
        "apiVersion": API_VERSION,
        "kind": APPROVAL_KIND,
        "metadata": {
            "name": name,
            "namespace": subject.namespace,
            "labels": {labels.MANAGED_BY: labels.MANAGER},
            "ownerReferences": [owner_reference(question.kind, subject.name, subject.uid)],
        },
        "spec": {
            "subject": {"kind": question.kind, "name": subject.name, "uid": subject.uid},
            "asks": question.asks.dump(),
        },
    }
