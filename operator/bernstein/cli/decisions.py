"""A person's decision about a Task or a Plan, as the command line makes it: written into the
Approval once, then acted upon by the operator.

The same decision once more changes nothing and is no error: scripts may repeat it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bernstein.api.approvals.approval import APPROVE, AskedApproval
from bernstein.api.meta import LONGEST_REASON
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import requests
from bernstein.cli.cluster import Cluster
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.naming import called, find
from bernstein.cli.requests import again, user_name
from bernstein.core.sanitise import line
from bernstein.core.serializers import task_status
from bernstein.kube.errors import Invalid
from bernstein.resources import APPROVALS

Decision = Literal["Approve", "Reject", "Retry"]

_SECONDS = 15.0
"""The operator acts within a few."""
_TICK = 0.5
_SAYS = 600
"""Characters of a message for what a gate says."""
_DONE = {"Approve": "approved", "Reject": "rejected", "Retry": "sent back", "Expired": "expired"}


def check_reason(reason: str) -> None:
    """Raises CliError where it is none that a decision can have."""
    if reason:
        requests.check_reason(reason, LONGEST_REASON)


@dataclass(frozen=True)
class Outcome:
    """What has become of a question."""

    subject: Plan | Task
    asked: AskedApproval
    """As the subject knows it."""
    decision: Decision
    already: bool
    """It was decided so before, and nothing has changed."""


async def decide(cluster: Cluster, name: str, decision: Decision, reason: str) -> Outcome:
    """Decides, and waits until the operator has acted.

    Raises CliError where nothing is to be decided, or something else was decided first.
    """
    subject = await find(cluster, name)
    asked = subject.status.approval
    if asked is None or _is_over(subject, asked, decision):
        raise _nothing(subject, None)
    already = asked.decision is not None
    if not already:
        _check_bypass(subject, asked, decision, reason)
        await _write(cluster, subject, asked, decision, reason)
        subject, asked = await _acted_upon(cluster, subject, asked)
    if asked.decision not in (None, decision):
        raise _another(subject, asked, decision)
    return Outcome(subject, asked, decision, already)


def _check_bypass(
    subject: Plan | Task, asked: AskedApproval, decision: Decision, reason: str
) -> None:
    """Raises CliError where somebody would let work go on without a gate and does not say why: he
    is told what the gate says, as he may not know."""
    if asked.asks.gate is None or decision != APPROVE or reason:
        return
    says = f": {line(gate_says(subject, asked), _SAYS)}" if gate_says(subject, asked) else ""
    message = f"{called(subject)} would go on without gate '{asked.asks.gate}'{says}"
    raise CliError("ReasonMissing", message, "say with --reason why it may", INVALID)


def gate_says(subject: Plan | Task, asked: AskedApproval) -> str:
    """What the gate that the question is about has found, or printed; "": it is about none."""
    judged = subject.status.verification
    results = judged.checks if judged is not None else ()
    return next((r.excerpt for r in results if r.name == asked.asks.gate), "")


def told(outcome: Outcome) -> str:
    """What has become of it, in one sentence."""
    subject, asked, decision = outcome.subject, outcome.asked, outcome.decision
    if asked.decision is None:
        return f"{called(subject)}: it is decided; the operator has not acted on it yet"
    by = f" by {line(asked.by, 300)}" if asked.by else ""
    if outcome.already:
        what = _DONE[decision]
        if asked.asks.gate is not None and decision == APPROVE:
            what = f"let go on without gate '{asked.asks.gate}'"
        return f"{called(subject)} was {what}{by} already: nothing changed{_next(subject)}"
    if asked.asks.gate is not None and decision == APPROVE:
        gate = f"gate '{asked.asks.gate}' is bypassed"
        return f"{called(subject)}: {gate}{by}; it is judged on without that{_next(subject)}"
    return f"{called(subject)} is {_DONE[decision]}{by}{_next(subject)}"


def _next(subject: Plan | Task) -> str:
    if isinstance(subject, Plan):
        return f" ({subject.status.phase or 'Pending'})"
    return f" ({task_status(subject)})"


def _is_over(subject: Plan | Task, asked: AskedApproval, decision: Decision) -> bool:
    """Whether the question is of an attempt before, of one that was sent back, or of what is being
    cancelled or has ended: it is not asked now."""
    if asked.decision is None and (subject.spec.cancel is not None or _has_moved_on(subject)):
        return True
    if isinstance(subject, Task) and asked.asks.attempt != subject.status.attempt:
        return True
    return asked.decision == "Retry" and decision != "Retry"


def _has_moved_on(subject: Plan | Task) -> bool:
    """Whether nobody's decision leads to anything."""
    if isinstance(subject, Plan):
        return subject.status.ended_at is not None
    return subject.status.state is not TaskState.PENDING_APPROVAL


async def _write(
    cluster: Cluster,
    subject: Plan | Task,
    asked: AskedApproval,
    decision: Decision,
    reason: str,
) -> None:
    """Writes the decision; where somebody has decided already, theirs stands."""
    await _is_there(cluster, subject, asked)
    spec = {"decision": decision, "decidedBy": await user_name(cluster)}
    body = {"spec": spec | ({"reason": reason} if reason else {})}
    try:
        await cluster.client.patch(APPROVALS, asked.name, cluster.namespace, body)
    except Invalid as error:
        if not _is_decided(error):
            raise


def _is_decided(refusal: Invalid) -> bool:
    """Whether it was refused because there is a decision, or nothing is left to decide."""
    return any(
        (cause.get("field"), cause.get("reason")) == ("spec.decision", "FieldValueForbidden")
        for cause in refusal.details.get("causes") or ()
    )


async def _is_there(cluster: Cluster, subject: Plan | Task, asked: AskedApproval) -> None:
    """Waits for the Approval: the operator makes it at once, and again where it was deleted."""
    clock: Callable[[], float] = asyncio.get_running_loop().time
    end = clock() + _SECONDS
    while await cluster.find_approval(asked.name) is None:
        if clock() >= end:
            text = f"{called(subject)}: there is no Approval '{asked.name}' yet"
            raise CliError("NotFound", text, "is the operator running? see `bernstein doctor`")
        await asyncio.sleep(_TICK)


async def _acted_upon(
    cluster: Cluster, subject: Plan | Task, asked: AskedApproval
) -> tuple[Plan | Task, AskedApproval]:
    """The subject once its operator has acted on the Approval, or asks something else, or after a
    while."""
    clock: Callable[[], float] = asyncio.get_running_loop().time
    end = clock() + _SECONDS
    while True:
        subject = await again(cluster, subject)
        now = subject.status.approval
        if now is None or now.name != asked.name:
            if bypassed := _bypassed(subject, asked):
                return subject, bypassed
            raise _nothing(subject, now)
        if now.decision is not None or clock() >= end:
            return subject, now
        await asyncio.sleep(_TICK)


def _bypassed(subject: Plan | Task, asked: AskedApproval) -> AskedApproval | None:
    """The question with its answer, where work has gone on without a gate, and asks something else
    already; None: it has not."""
    judged = subject.status.verification
    for result in judged.checks if judged is not None else ():
        if result.bypass is not None and result.bypass.approval == asked.name:
            update = {"decision": APPROVE, "by": result.bypass.by, "reason": result.bypass.reason}
            return asked.model_copy(update=update)
    return None


def _nothing(subject: Plan | Task, asked: AskedApproval | None) -> CliError:
    state = subject.status.phase if isinstance(subject, Plan) else subject.status.state
    text = f"{called(subject)} waits for nobody's decision ({state or 'new'})"
    if asked is not None and asked.decision is None:
        text = f"{called(subject)} has changed since, and asks anew"
    remedy = "see what does with `bernstein pending`"
    if isinstance(subject, Task) and subject.status.state is TaskState.DONE:
        remedy = "it may still be verified: `bernstein pending` waits for that"
    return CliError("NothingToDecide", text, remedy)


def _another(subject: Plan | Task, asked: AskedApproval, decision: Decision) -> CliError:
    by = f" by {line(asked.by, 300)}" if asked.by else ""
    what = _DONE.get(asked.decision or "", "decided")
    text = f"{called(subject)} was {what}{by} before: the first decision is final"
    remedy = "cancel it with `bernstein cancel`" if asked.decision == APPROVE else ""
    return CliError("DecidedAlready", text, remedy if decision != APPROVE else "")
