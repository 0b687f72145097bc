"""Approval: what its status says. What follows from a decision is the subject's own next step.

Pending ──┬─▶ Approved ──▶ Void   what it was about has changed since
          ├─▶ Rejected            or sent back
          ├─▶ Expired             nobody has decided in time
          └─▶ Void                before anybody has decided

No question is asked again under its name. So one that is asked although it is Void was seen beside
an older look at its subject: it is Pending again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bernstein.api.approvals.approval import (
    APPROVE,
    MOST_SHOWN,
    RETRY,
    Approval,
    ApprovalState,
    ApprovalStatus,
    AskedApproval,
    Shown,
    ShownCheck,
)
from bernstein.api.meta import ConditionType
from bernstein.api.money import known
from bernstein.api.plan import Plan, Step, Work
from bernstein.api.task import Task
from bernstein.api.verification import CheckResult, Verification
from bernstein.api.waiting import WaitReason
from bernstein.core.approvals.commands import approve
from bernstein.core.approvals.policy import author_of
from bernstein.core.conditions import Truth, drop, put
from bernstein.core.sanitise import line
from bernstein.core.verification import words

_S = ApprovalState
SENT_BACK = "SentBack"
"""Reason of `Succeeded` where the state is Rejected, and the work is to be done once more."""
_TITLE, _EXCERPT = 120, 2048


@dataclass(frozen=True)
class ApprovalSnapshot:
    """An Approval, and what it is about."""

    approval: Approval
    subject: Task | Plan | None
    """None: it is gone."""
    plan: Plan | None = None
    """That of the Task."""


def status_of(snapshot: ApprovalSnapshot, now: datetime) -> ApprovalStatus:
    """The status to write."""
    approval = snapshot.approval
    before, asked = approval.status, _asked(snapshot)
    state = _state(before.state, asked, in_force=_in_force(snapshot))
    update: dict[str, object] = {
        "observed_generation": approval.metadata.generation,
        "state": state,
        "shown": before.shown or _shown(snapshot, asked),
        "expires_at": asked.until if asked is not None else before.expires_at,
        "ended_at": None if state is _S.PENDING else before.ended_at or now,
    }
    return _told(before.model_copy(update=update), approval, asked, now)


def _asked(snapshot: ApprovalSnapshot) -> AskedApproval | None:
    """What the subject has asked, if it is this; None: it asks something else by now."""
    subject, name = snapshot.subject, snapshot.approval.metadata.name
    asked: Iterable[AskedApproval | None] = ()
    if isinstance(subject, Plan):
        asked = subject.status.asked
    elif subject is not None:
        asked = (subject.status.approval,)
    return next((each for each in asked if each is not None and each.name == name), None)


def _in_force(snapshot: ApprovalSnapshot) -> bool:
    """Whether the subject goes on without a gate because of it, whatever it asks by now."""
    return snapshot.approval.metadata.name in bypasses_of(snapshot.subject)


def bypasses_of(subject: Task | Plan | None) -> frozenset[str]:
    """The Approvals by which gates are bypassed, of the work that is judged."""
    judged = subject.status.verification if subject is not None else None
    results = judged.checks if judged is not None else ()
    return frozenset(result.bypass.approval for result in results if result.bypass is not None)


def _state(
    before: ApprovalState | None, asked: AskedApproval | None, *, in_force: bool
) -> ApprovalState:
    if before in (_S.REJECTED, _S.EXPIRED):
        return before
    if asked is None:
        return _S.APPROVED if in_force else _S.VOID
    if asked.decision is None:
        return _S.PENDING
    if asked.decision == "Expired":
        return _S.EXPIRED
    return _S.APPROVED if asked.decision == APPROVE else _S.REJECTED


def _told(
    status: ApprovalStatus, approval: Approval, asked: AskedApproval | None, now: datetime
) -> ApprovalStatus:
    """With its conditions: at work while a person has yet to decide, and then over."""
    if status.state is _S.PENDING:
        kind, other = ConditionType.RECONCILING, ConditionType.SUCCEEDED
        truth: Truth = "True"
        reason: str = WaitReason.AWAITING_APPROVAL
        text = "a person has yet to decide"
    else:
        kind, other = ConditionType.SUCCEEDED, ConditionType.RECONCILING
        truth = "True" if status.state is _S.APPROVED else "False"
        reason, text = _over(status.state, approval, asked)
    conditions = put(
        drop(status.conditions, other),
        kind,
        truth,
        reason,
        text,
        generation=status.observed_generation,
        now=now,
    )
    return status.model_copy(update={"conditions": conditions})


def _over(
    state: ApprovalState | None, approval: Approval, asked: AskedApproval | None
) -> tuple[str, str]:
    """(reason, message): what has come of it, and of what it was about. While that still asks it,
    it knows; else the Approval alone does."""
    spec = approval.spec
    by = asked.by if asked is not None and asked.by else spec.decided_by
    decision = asked.decision if asked is not None and asked.decision else spec.decision
    why = line((asked.reason if asked is not None else None) or spec.reason or "", 1)
    kind, about_gate = spec.subject.kind, spec.asks.gate is not None
    match state:
        case _S.APPROVED:
            return state, f"approved by {by}"
        case _S.REJECTED if decision == RETRY and about_gate:
            keeps = ", and keeps why" if why else ", and nobody has said why"
            return SENT_BACK, f"sent back by {by}: the Task is Failed{keeps}"
        case _S.REJECTED if decision == RETRY:
            told = "is told why" if why else "is not told why, as nobody has said it"
            text = f"sent back by {by}: the next attempt {told}; without one left it is Failed"
            return SENT_BACK, text
        case _S.REJECTED:
            return state, f"rejected by {by}: the {kind} is Cancelled"
        case _S.EXPIRED if about_gate:
            return state, "nobody has decided in time: the Task is Failed by its gate"
        case _S.EXPIRED:
            return state, f"nobody has decided in time: the {kind} is Cancelled"
        case _:
            text = "what it was about has changed or ended: it has no effect any more"
            return str(state), text


def _shown(snapshot: ApprovalSnapshot, asked: AskedApproval | None) -> Shown | None:
    """What the person sees; made once, while the subject still asks exactly this."""
    if asked is None:
        return None
    because = tuple(line(why, 300) for why in asked.because)
    if isinstance(snapshot.subject, Plan):
        plan = snapshot.subject
        estimate = plan.status.estimate
        return Shown(
            title=line(plan.spec.name, 300),
            because=because,
            author=plan.spec.author,
            decide=_command(snapshot.approval),
            tasks=sum(1 for _ in plan.spec.work),
            subtasks=sum(map(_subtasks, plan.spec.work)) or None,
            cost_usd=estimate.cost_usd if estimate is not None else None,
        )
    task = snapshot.subject
    assert task is not None
    judged = task.status.verification
    return Shown(
        title=line(task.spec.title, 300),
        because=because,
        author=author_of(task, snapshot.plan),
        ref=judged.ref if judged is not None else None,
        files_changed=judged.files_changed if judged is not None else None,
        most_changed=judged.most_changed if judged is not None else None,
        diff=f"bernstein diff {task.metadata.name} --namespace {task.metadata.namespace}",
        decide=_command(snapshot.approval),
        checks=_checks(judged),
        excerpt=_excerpt(judged, asked.asks.gate) or None,
        cost_usd=known(task.status.spend_usd, task.status.spend_source),
    )


def _command(approval: Approval) -> str:
    """What approves exactly this; the same once more is not written onto a later question."""
    name, about = approval.metadata, approval.spec.subject
    where = ("--approval", name.name, "--namespace", name.namespace)
    return approve(f"{about.kind.lower()}/{about.name}", approval.spec.asks, *where)


def _excerpt(judged: Verification | None, gate: str | None) -> str:
    """What the verdicts say that the person decides about; "": all have passed."""
    return words.asked_about(judged.checks if judged is not None else (), gate, _EXCERPT)


def _checks(judged: Verification | None) -> tuple[ShownCheck, ...]:
    """Those that did not pass first: a person shall see them, however many there are."""
    results = judged.checks if judged is not None else ()
    in_order = sorted(results, key=lambda result: result.verdict == "Passed")
    return tuple(map(_check, in_order[:MOST_SHOWN]))


def _check(result: CheckResult) -> ShownCheck:
    title = line(result.title, _TITLE)
    return ShownCheck(
        name=result.name,
        title=title,
        verdict=result.verdict,
        reason=result.reason,
        required=result.required,
    )


def _subtasks(work: Work) -> int:
    """How many a step is split into, beside its own Task."""
    return len(work.given.subtasks) if isinstance(work.given, Step) else 0
