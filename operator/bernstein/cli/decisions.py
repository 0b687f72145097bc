"""A person's decision about a Task or a Plan, as the command line makes it: written into the
Approval once, then acted upon by the operator.

The same decision once more changes nothing and is no error: scripts may repeat it. By its name or
its commit a decision is tied to what was seen: it is never written onto a later question.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from bernstein.api.approvals.approval import (
    APPROVE,
    Approval,
    ApprovalState,
    AskedApproval,
    Asks,
)
from bernstein.api.meta import LONGEST_REASON
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import requests
from bernstein.cli.cluster import Cluster, check_name
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.naming import called, find
from bernstein.cli.output.asked import question_of, questions_of
from bernstein.cli.requests import UnknownUserError, again, user_name
from bernstein.core.sanitise import line
from bernstein.core.serializers import task_status
from bernstein.kube.errors import Invalid
from bernstein.resources import APPROVALS

Decision = Literal["Approve", "Reject", "Retry"]

_SECONDS = 15.0
"""The operator acts within a few."""
_TICK = 0.5
_REPEATED = timedelta(minutes=5)
"""A question that comes so soon after a decision may meet the same call once more, of somebody who
never saw its answer."""
_SAYS = 600
"""Characters of a message for what a gate says."""
_SHA = re.compile(r"[0-9a-f]{7,64}\Z")
"""As git abbreviates a commit, or longer."""
_WITHOUT = "it is judged on without that; where other work has landed since, you are asked again"
"""What follows from a bypass, which is about one commit on one base."""
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


@dataclass(frozen=True)
class Seen:
    """What a person has looked at, and decides about; without both: whatever is asked now."""

    approval: str | None = None
    """Name of the Approval."""
    sha: str | None = None
    """The commit that would land, or how it begins."""

    def fits(self, approval: str, asks: Asks) -> bool:
        """Whether it is this question."""
        same = self.approval in (None, approval)
        return same and (self.sha is None or (asks.sha or "").startswith(self.sha))

    def check(self) -> None:
        """Raises CliError for what can be no Approval or no commit."""
        if self.approval is not None:
            check_name(self.approval, "Approval")
        if self.sha is not None and not _SHA.match(self.sha):
            message = f"'{line(self.sha, 80)}' is no commit"
            remedy = "give at least the first 7 characters that `bernstein pending` shows"
            raise CliError("InvalidSha", message, remedy, INVALID)

    def __str__(self) -> str:
        if self.approval is not None:
            return f"Approval '{self.approval}'"
        return f"commit {self.sha}"


ANYTHING = Seen()


async def decide(
    cluster: Cluster, name: str, decision: Decision, reason: str, seen: Seen = ANYTHING
) -> Outcome:
    """Decides, and waits until the operator has acted.

    Raises CliError where nothing is to be decided, something else was decided first, or what was
    seen is not what is asked.
    """
    subject = await find(cluster, name)
    if seen.sha is not None and isinstance(subject, Plan):
        text = f"{called(subject)} waits without a commit"
        raise CliError("InvalidSha", text, "name the Approval with --approval", INVALID)
    asked = _asked(subject, seen)
    if asked is None or not seen.fits(asked.name, asked.asks) or _is_over(subject, asked, decision):
        asked = await _decided_before(cluster, subject, decision, seen)
    already = asked.decision is not None
    if not already:
        await _check_new(cluster, subject, asked, decision, seen)
        _check_bypass(subject, asked, decision, reason)
        await _write(cluster, subject, asked, decision, reason)
        subject, asked = await _acted_upon(cluster, subject, asked, seen)
    if asked.decision not in (None, decision):
        raise _another(subject, asked, decision)
    return Outcome(subject, asked, decision, already)


def _asked(subject: Plan | Task, seen: Seen) -> AskedApproval | None:
    """The question that was seen, as far as the subject knows it; else what it asks now."""
    fits = (each for each in questions_of(subject) if seen.fits(each.name, each.asks))
    named = next(fits, None) if seen.approval is not None else None
    return named or question_of(subject)


def _named(subject: Plan | Task, name: str) -> AskedApproval | None:
    """The question of this name, if the subject knows it; else what it asks now."""
    same = (each for each in questions_of(subject) if each.name == name)
    return next(same, None) or question_of(subject)


async def _about(cluster: Cluster, subject: Plan | Task, seen: Seen) -> list[Approval]:
    """All questions about it that were, of what was seen."""
    uid = subject.metadata.uid
    about = [a for a in await cluster.approvals() if a.spec.subject.uid == uid]
    return [a for a in about if seen.fits(a.metadata.name, a.spec.asks)]


async def _check_new(
    cluster: Cluster, subject: Plan | Task, asked: AskedApproval, decision: Decision, seen: Seen
) -> None:
    """Raises CliError where it is not said which question is meant, and this may be the same call
    once more, which was about another one: about this commit, or by this user a while ago."""
    if seen.approval is not None:
        return
    about = await _about(cluster, subject, seen)
    others = [a for a in about if a.metadata.name != asked.name and a.spec.decision is not None]
    if seen == ANYTHING:
        others = [a for a in others if _was_just_decided(a, decision, asked)]
        user = await user_name(cluster) if others else ""
        others = [a for a in others if a.spec.decided_by == user]
    if others:
        what = "you have decided so" if seen == ANYTHING else f"{seen} was decided"
        text = f"{called(subject)}: {what} before, and something else is asked about it"
        remedy = f"see what with `bernstein pending`, then decide with --approval {asked.name}"
        raise CliError("WorkChanged", f"{text} now; nothing is decided", remedy)


def _was_just_decided(other: Approval, decision: Decision, asked: AskedApproval) -> bool:
    ended = other.status.ended_at
    if ended is None or other.spec.decision != decision:
        return False
    return ended <= asked.since <= ended + _REPEATED


async def _decided_before(
    cluster: Cluster, subject: Plan | Task, decision: Decision, seen: Seen
) -> AskedApproval:
    """The question that was seen, with what it came to, though it is not asked any more. Without
    one that was seen: the last one that this user has decided, where he decides the same.

    Raises CliError where there is none such: it may not be decided now.
    """
    about = await _about(cluster, subject, seen)
    if seen == ANYTHING:
        last = await _last_of_this_user(cluster, about)
        if last is not None and last.decision == decision and _stands(subject, last):
            return last
        raise _nothing(subject, None)
    ends = [asked for asked in map(_end, about) if asked is not None and _stands(subject, asked)]
    if ends:
        return next((end for end in ends if end.decision == decision), ends[-1])
    raise await _changed(cluster, subject, seen, known=bool(about))


async def _last_of_this_user(cluster: Cluster, approvals: list[Approval]) -> AskedApproval | None:
    if all(approval.spec.decided_by is None for approval in approvals):
        return None
    try:
        user = await user_name(cluster)
    except UnknownUserError:
        return None
    mine = [a for a in approvals if a.spec.decided_by == user and a.status.ended_at is not None]
    last = max(mine, key=lambda a: str(a.status.ended_at), default=None)
    return _end(last) if last is not None else None


def _end(approval: Approval) -> AskedApproval | None:
    """The question with its answer, as its subject knew it; None: it has none that counts."""
    spec, state = approval.spec, approval.status.state
    since = approval.metadata.creation_timestamp
    assert since is not None  # the API server's
    if state not in (ApprovalState.APPROVED, ApprovalState.REJECTED, ApprovalState.EXPIRED):
        return None
    return AskedApproval(
        name=approval.metadata.name,
        asks=spec.asks,
        since=since,
        decision="Expired" if state is ApprovalState.EXPIRED else spec.decision,
        by=spec.decided_by,
        reason=spec.reason,
    )


def _stands(subject: Plan | Task, asked: AskedApproval) -> bool:
    """Whether what was decided holds: a no does for good, a yes for its attempt alone."""
    if asked.decision != APPROVE or isinstance(subject, Plan):
        return True
    return asked.asks.attempt == subject.status.attempt


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
        return f"{called(subject)}: {gate}{by}; {_WITHOUT}{_next(subject)}"
    return (
        f"{called(subject)} is {_DONE[decision]}{by}{_no_more(subject, decision)}{_next(subject)}"
    )


def _no_more(subject: Plan | Task, decision: Decision) -> str:
    """That nobody does it once more, and what helps; "": somebody does."""
    if decision != "Retry" or isinstance(subject, Plan) or task_status(subject) != "failed":
        return ""
    helps = f"`bernstein retry task/{subject.metadata.name}` gives it another round"
    return f"; no attempt is left, so that none follows: {helps}"


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
    """Writes the decision, until it stands or nobody asks for it any more.

    Raises CliError where somebody has decided otherwise meanwhile, or the question stays over: of
    one that is asked all the same that is put right by the operator, in a moment.
    """
    spec = {"decision": decision, "decidedBy": await user_name(cluster)}
    body = {"spec": spec | ({"reason": reason} if reason else {})}
    clock: Callable[[], float] = asyncio.get_running_loop().time
    end = clock() + _SECONDS
    while True:
        await _is_there(cluster, subject, asked)
        try:
            await cluster.client.patch(APPROVALS, asked.name, cluster.namespace, body)
        except Invalid as error:
            if not _is_decided(error):
                raise
        else:
            return
        approval = await cluster.find_approval(asked.name)
        stands = approval.spec.decision if approval is not None else None
        if approval is not None and stands is not None:
            if stands != decision:
                update = {"decision": stands, "by": approval.spec.decided_by}
                raise _another(subject, asked.model_copy(update=update), decision)
            return
        now = _named(await again(cluster, subject), asked.name)
        if now is None or now.name != asked.name:
            return
        if clock() >= end:
            state = approval.status.state if approval is not None else "gone"
            text = f"{called(subject)}: Approval '{asked.name}' is {state}; nothing is decided"
            raise CliError("NothingToDecide", text, "is the operator running? `bernstein doctor`")
        await asyncio.sleep(_TICK)


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
    cluster: Cluster, subject: Plan | Task, asked: AskedApproval, seen: Seen
) -> tuple[Plan | Task, AskedApproval]:
    """The subject once its operator has acted on the Approval, or asks something else, or after a
    while."""
    clock: Callable[[], float] = asyncio.get_running_loop().time
    end = clock() + _SECONDS
    while True:
        subject = await again(cluster, subject)
        now = _named(subject, asked.name)
        if now is None or now.name != asked.name:
            if bypassed := _bypassed(subject, asked):
                return subject, bypassed
            approval = await cluster.find_approval(asked.name)
            came_to = _end(approval) if approval is not None else None
            if came_to is not None and _stands(subject, came_to):
                return subject, came_to
            if seen != ANYTHING:
                raise await _changed(cluster, subject, seen, known=True)
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
    remedy = "`bernstein pending` lists what waits for a decision"
    if isinstance(subject, Task) and subject.status.state is TaskState.DONE:
        remedy = "it may still be verified: `bernstein pending` waits for that"
    return CliError("NothingToDecide", text, remedy)


async def _changed(cluster: Cluster, subject: Plan | Task, seen: Seen, *, known: bool) -> CliError:
    """What was seen is not what is asked now. `known`: it was asked about this subject once."""
    text = f"{called(subject)} does not ask about {seen}"
    if known:
        text = f"{called(subject)} asks about {seen} no more: that has changed or ended"
    elif seen.approval is not None and await cluster.find_approval(seen.approval) is None:
        return await cluster.not_found(seen.approval, APPROVALS)
    remedy = "see what is asked now with `bernstein pending`"
    if isinstance(subject, Task):
        remedy += f", and what it has changed with `bernstein diff {subject.metadata.name}`"
    return CliError("WorkChanged", f"{text}; nothing is decided", remedy)


def _another(subject: Plan | Task, asked: AskedApproval, decision: Decision) -> CliError:
    by = f" by {line(asked.by, 300)}" if asked.by else ""
    what = _DONE.get(asked.decision or "", "decided")
    text = f"{called(subject)} was {what}{by} before: the first decision is final"
    remedy = "cancel it with `bernstein cancel`" if asked.decision == APPROVE else ""
    return CliError("DecidedAlready", text, remedy if decision != APPROVE else "")
