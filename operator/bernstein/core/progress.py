"""What the conditions of a Task and a Plan say of its progress: what follows from the rest.

    ended ───────────────────────▶ Succeeded, True or False
    waiting, needs a person ─────▶ Stalled
    waiting, or at work ─────────▶ Reconciling

All that is decided about a Task or a Plan goes through here before it is written, and nothing else
sets these three. So they never say anything else than `state`, `phase` and `waiting` do.
Verified, which a round of checks sets, goes where it is about other work than there is now.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, Protocol, TypeVar

from bernstein.api.approvals.approval import APPROVE, AskedApproval
from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.meta import Condition, ConditionType
from bernstein.api.plan import DELIVERED_PARTIALLY, Plan, PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.verification import Verification
from bernstein.api.waiting import Cancel, Waiting, WaitReason, WaitScope
from bernstein.core import names
from bernstein.core.conditions import Progress, Truth, drop, is_true, put
from bernstein.core.fsm import ACTIVE, is_final
from bernstein.core.sanitise import count, ordinal, some, without_quotes
from bernstein.core.waiting import RESTS, goes_on, is_stalled, parted, scope_of

IS_MADE = "the integration ref is being made"
_AT_WORK = ("Starting", "Running", "Delivering")
"""Phases of a Plan that gets on: one that needs a person is Stalled instead."""
_CLOSE_IT = "close it, unless people are to merge what it has"
_IS_CLOSED = "its pull request is being closed"
_ARE_ENDED = "Tasks and checks are being ended"
_OVER = (TaskState.CLOSED, TaskState.CANCELLED)


class _Condition(NamedTuple):
    truth: Truth
    reason: str
    message: str


class _Status(Progress, Protocol):
    @property
    def waiting(self) -> Waiting | None: ...
    @property
    def verification(self) -> Verification | None: ...


S = TypeVar("S", bound=_Status)
_Conditions = dict[str, _Condition]


def of_task(task: Task, status: TaskStatus, now: datetime) -> TaskStatus:
    """The status that was decided, with its conditions; `task` as it was read."""
    if status.state in _OVER:
        status = goes_on(status)
    status = since(task.status.waiting, status, WaitScope.TASK)
    return _with(status, _of_task(task, status), now)


def of_plan(plan: Plan, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status that was decided, with its conditions; `plan` as it was read."""
    if status.ended_at is not None and status.phase != "Failed":
        status = goes_on(status)
    if is_stalled(status) and status.phase in _AT_WORK:
        status = status.model_copy(update={"phase": "Stalled"})
    status = since(plan.status.waiting, status)
    return _with(status, _of_plan(plan, status), now)


def since(before: Waiting | None, status: S, own: WaitScope = WaitScope.PLAN) -> S:
    """Its waiting goes on from when it began for this reason. It concerns at least its `own`."""
    waiting = status.waiting
    if waiting is None:
        return status
    same = before is not None and before.reason == waiting.reason
    begun = before.since if before is not None and same else waiting.since
    scope = scope_of(waiting.reason)
    scope = own if scope is WaitScope.TASK else scope
    if (begun, scope) == (waiting.since, waiting.scope):
        return status
    update = {"since": begun, "scope": scope}
    return status.model_copy(update={"waiting": waiting.model_copy(update=update)})


def _with(status: S, new: _Conditions, now: datetime) -> S:
    kinds = (ConditionType.RECONCILING, ConditionType.STALLED, ConditionType.SUCCEEDED)
    gone = [kind for kind in kinds if kind not in new]
    if not _is_said_of(status.verification, status.conditions):
        gone.append(ConditionType.VERIFIED)
    conditions = drop(status.conditions, *gone)
    for kind, (truth, reason, message) in new.items():
        conditions = put(
            conditions,
            kind,
            truth,
            reason,
            message,
            generation=status.observed_generation,
            now=now,
        )
    if conditions is status.conditions:
        return status
    return status.model_copy(update={"conditions": conditions})


def _is_said_of(judged: Verification | None, conditions: tuple[Condition, ...]) -> bool:
    """Whether Verified can be about this tree: an attempt before has left another one, and where
    the tip has moved a candidate is judged anew."""
    if judged is None:
        return False
    return judged.passed is True or not is_true(conditions, ConditionType.VERIFIED)


def _waits(waiting: Waiting) -> _Conditions:
    kind = ConditionType.STALLED if waiting.needs_person else ConditionType.RECONCILING
    return {kind: _Condition("True", waiting.reason, waiting.message)}


def _at_work(reason: str, message: str) -> _Conditions:
    return {ConditionType.RECONCILING: _Condition("True", reason, message)}


def _ended(truth: Truth, reason: str, message: str) -> _Conditions:
    return {ConditionType.SUCCEEDED: _Condition(truth, reason, message)}


def _failed(waiting: Waiting, delivery: Delivery | None = None) -> _Conditions:
    """It ended without success. A person must look at why, unless a workflow says what follows."""
    cause, _ = parted(waiting.message)
    told = "; ".join(filter(None, (cause.rstrip("."), _left_open((delivery,)))))
    ended = _ended("False", waiting.reason, told)
    return ended | _waits(waiting) if waiting.needs_person else ended


def _left_open(deliveries: Iterable[Delivery | None]) -> str:
    """That people may still merge its pull requests, which nobody looks at any more."""
    pulls = (delivery.pull_request for delivery in deliveries if delivery is not None)
    urls = [pull.url for pull in pulls if pull is not None and pull.state == "Open"]
    if len(urls) > 1:
        which = some(urls, len(urls))
        return f"they stay open: close them, unless people are to merge what they have: {which}"
    if not urls:
        return ""
    return f"{urls[0]} stays open: {_CLOSE_IT}"


def _is_closing(delivery: Delivery | None) -> bool:
    return delivery is not None and delivery.step == "Closing"


def _closed(delivery: Delivery | None) -> str:
    """What has become of the pull request of what is cancelled."""
    if delivery is None or delivery.branch is None:
        return ""
    pull, unknown = delivery.pull_request, delivery.state == "Unknown"
    words = without_quotes(delivery.message or "", "status.delivery")
    if pull is not None and pull.state == "Merged":
        return _merged(delivery, pull, words) if unknown else f"{pull.url} was merged"
    if pull is not None and pull.state == "Closed":
        return f"{pull.url} is closed"
    tried = unknown and delivery.failures is not None
    why = f"it could not be closed: {words}" if tried else ""
    if pull is None and not why:
        return ""
    where = f"a pull request of '{names.branch_of(delivery.branch)}' may be open"
    told = f"{pull.url} stays open" if pull is not None else where
    return "; ".join(filter(None, (told, why))) + f". Remedy: {_CLOSE_IT}"


def _merged(delivery: Delivery, pull: PullRequest, words: str) -> str:
    """What is said of one that the forge calls merged, where git has not shown that."""
    if delivery.reason == Reason.PULL_REQUEST_CHANGED:
        return words
    told = f"the forge says that {pull.url} was merged"
    return f"{told}; it could not be looked for: {words}" if words else told


def _deliveries(status: PlanStatus) -> list[Delivery | None]:
    """In each repository of the Plan."""
    return [row.delivery for row in status.repositories] or [status.delivery]


def _why_cancelled(
    cancel: Cancel | None, asked: AskedApproval | None, deliveries: Iterable[Delivery | None]
) -> tuple[str, str]:
    """(reason, message) of what somebody has ended: by a cancel, or by a decision; and what stays
    of it on the forge."""
    reason, why = _who_cancelled(cancel, asked)
    told = (_closed(delivery) for delivery in deliveries)
    return reason, "; ".join(filter(None, (why, *told)))


def _who_cancelled(cancel: Cancel | None, asked: AskedApproval | None) -> tuple[str, str]:
    if cancel is not None or asked is None or asked.decision in (None, APPROVE):
        return Reason.CANCELLED, cancel.reason if cancel is not None else ""
    if asked.decision == "Expired":
        return Reason.APPROVAL_EXPIRED, asked.reason or ""
    return Reason.REJECTED, ": ".join(filter(None, (f"rejected by {asked.by}", asked.reason)))


# --- Tasks ----------------------------------------------------------------------------------------


def of_closed(status: TaskStatus, now: datetime) -> TaskStatus:
    """The status of a Task that is Closed, with its conditions; the same where it has them."""
    return _with(status, _CLOSED, now)


_CLOSED = _ended("True", "Closed", "verified and merged")


def _of_task(task: Task, status: TaskStatus) -> _Conditions:
    waiting, cancel = status.waiting, task.spec.cancel
    if status.state is TaskState.CLOSED:
        return _CLOSED
    if status.state is TaskState.CANCELLED:
        return _ended("False", *_why_cancelled(cancel, status.approval, (status.delivery,)))
    if waiting is not None and is_final(status, task.spec.max_retries):
        return _failed(waiting, status.delivery)
    if waiting is not None:
        return _waits(waiting)
    if cancel is not None and not (status.delivery and status.delivery.step == "Landing"):
        asked = "the agent is asked to end" if status.state in ACTIVE else "what it runs is ended"
        return _at_work("Cancelling", _IS_CLOSED if _is_closing(status.delivery) else asked)
    return _at_work(*_doing(status))


def _doing(status: TaskStatus) -> tuple[str, str]:
    """(reason, message) of a Task that waits for nothing."""
    match status.state:
        case TaskState.CLAIMED:
            return "Claimed", "its session is starting"
        case TaskState.IN_PROGRESS:
            return "InProgress", "the agent is at work"
        case TaskState.DONE:
            return _landing(status.verification, status.delivery)
        case TaskState.OPEN if not status.sessions and status.split is None:
            return "Open", "about to start"
        case _:
            return "Retrying", "it is tried again"


def _landing(judged: Verification | None, delivery: Delivery | None) -> tuple[str, str]:
    """(reason, message) of work that is judged or on its way to where it belongs."""
    pushed = _pushed(delivery)
    if judged is not None and judged.passed is None and not judged.lost:
        out = f"; still out: {judged.outstanding.checks}" if judged.outstanding else ""
        if not judged.candidate:
            return "Verifying", f"what was done is judged by the checks{out}"
        if pushed:
            return "Verifying", f"{pushed}: it is judged by the checks{out}"
        again = f"for the {ordinal(judged.round + 1)} time"
        return "Verifying", f"{_moved(delivery)}; it is verified again on the new tip, {again}{out}"
    match delivery.step if delivery is not None else None:
        case "Next":
            return "NextToLand", "it is its turn to land"
        case "Preparing" if pushed:
            return "Preparing", f"{pushed}: a candidate is made of it"
        case "Preparing":
            return "Preparing", f"{_moved(delivery)}; a candidate is made on the new tip"
        case "Landing":
            return "Landing", "it is being merged"
        case "Proposing":
            return "Proposing", "its pull request is being opened"
        case _:
            return "Delivering", "it is verified and about to land"


def _pushed(delivery: Delivery | None) -> str:
    """What people have pushed, and where, while that is verified; "": nothing is."""
    if delivery is None or delivery.pushed is None or delivery.pushed.taken is None:
        return ""
    number = delivery.pull_request.number if delivery.pull_request is not None else ""
    return f"{delivery.pushed.taken[:12]} was pushed to pull request {number}"


def _moved(delivery: Delivery | None) -> str:
    """Why what was verified before cannot land as it is."""
    branch = names.branch_of(delivery.onto) if delivery is not None else ""
    if branch and not branch.startswith("refs/"):
        return f"'{branch}' moved meanwhile"
    return "other work has landed meanwhile"


# --- Plans ----------------------------------------------------------------------------------------


def _of_plan(plan: Plan, status: PlanStatus) -> _Conditions:
    waiting, cancel = status.waiting, plan.spec.cancel
    if status.ended_at is not None and status.phase == "Succeeded":
        return _ended("True", "Delivered", "verified and merged")
    if status.ended_at is not None and status.phase == DELIVERED_PARTIALLY:
        return _ended("False", DELIVERED_PARTIALLY, _parts(status))
    if status.ended_at is not None and waiting is not None:
        return _failed(waiting)
    if status.ended_at is not None:
        asked = status.rejected or status.approval
        reason, why = _why_cancelled(cancel, asked, _deliveries(status))
        return _ended("False", reason, "; ".join(filter(None, (why, _stays(status)))))
    if waiting is not None:
        # One that rests, as it was told to, is neither at work nor in need of anybody.
        rests = waiting.reason == WaitReason.SUSPENDED and waiting.message == RESTS
        return {} if rests else _waits(waiting)
    landing = status.delivery is not None and status.delivery.step == "Landing"
    if status.partial is not None and status.partial.tip is None and status.phase == "Delivering":
        return _at_work("EndingTasks", "what has landed is delivered once its other Tasks ended")
    if status.phase == "Delivering" or landing:
        return _at_work(*_landing(status.verification, status.delivery))
    doing = {
        "Cancelling": _IS_CLOSED if _is_closing(status.delivery) else _ARE_ENDED,
        "Running": "Tasks are running",
        "Starting": IS_MADE,
        "Suspended": "what had begun goes on to its end",
    }
    phase = status.phase or "Pending"
    reason = "Suspending" if phase == "Suspended" else phase
    return _at_work(reason, doing.get(phase, "about to begin"))


def _stays(status: PlanStatus) -> str:
    """In which of its repositories it was delivered before it ended."""
    merged = [
        row.name for row in status.repositories if row.delivery and row.delivery.state == "Merged"
    ]
    return f"delivered already, and stays: {some(merged, len(merged))}" if merged else ""


def _parts(status: PlanStatus) -> str:
    """What was delivered, and what was not."""
    counts, left = status.counts, [r.name for r in status.tasks if r.state != TaskState.CLOSED]
    which = some(left, len(left))
    return f"{counts.closed} of {count(counts.total, 'Task')} delivered, without {which}"
