"""What people ask of a Task beside its work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from bernstein.api.reasons import Reason
from bernstein.api.requests import RETRY, RefusalReason, TaskRequest
from bernstein.api.states import TaskState
from bernstein.api.task import Round, TaskStatus
from bernstein.core import requests
from bernstein.core.delivery import conflict
from bernstein.core.fsm import is_final, move
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.waiting import goes_on

Verb = Callable[[TaskSnapshot, TaskStatus, TaskRequest, datetime], TaskStatus]


def answered(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus | None:
    """The status with an answer to each request that has none; None: there is none of these."""
    asked = snapshot.task.spec.requests
    new = requests.unanswered(asked, status.requests)
    for request in new:
        verb = VERBS.get(request.verb)
        if verb is None:
            status = requests.unknown(status, asked, request, now)
        else:
            status = verb(snapshot, status, request, now)
    return status if new else None


def _retry(
    snapshot: TaskSnapshot, status: TaskStatus, request: TaskRequest, now: datetime
) -> TaskStatus:
    """Another round of attempts: of a Task that has failed for good, or does not merge."""
    asked = snapshot.task.spec.requests
    refusal = _why_not(snapshot, status)
    if refusal is not None:
        return requests.refused(status, asked, request, *refusal, now)
    rounds = 1 + (status.round.number if status.round is not None else 0)
    update = {
        "round": Round(number=rounds, since=status.attempt),
        "infrastructure_failures": 0,
        "gate_errors": 0,
        "resolved": None,
        "ended_at": None,
    }
    status = goes_on(status.model_copy(update=update))
    # From Done it takes two moves, and one write makes one of them: `failed` makes the other.
    done = status.state is TaskState.DONE
    to, why = (TaskState.FAILED, Reason.MERGE_CONFLICT) if done else (TaskState.OPEN, RETRY)
    status = move(status, to, why, now, actor=request.by[:128])
    text = f"round {rounds + 1} of its attempts begins"
    return requests.done(status, asked, request, text, now)


def _why_not(snapshot: TaskSnapshot, status: TaskStatus) -> tuple[RefusalReason, str] | None:
    plan, spec = snapshot.plan, snapshot.task.spec
    if spec.cancel is not None or status.state is TaskState.CANCELLED:
        return RefusalReason.CANCELLED, "it was cancelled"
    if snapshot.plan_missing:
        return RefusalReason.PLAN_ENDED, "its Plan is gone or being deleted"
    if plan is not None and plan.spec.cancel is not None:
        return RefusalReason.CANCELLED, "its Plan was cancelled"
    if plan is not None and plan.status.ended_at is not None and plan.status.phase != "Failed":
        return RefusalReason.PLAN_ENDED, f"its Plan has ended: {plan.status.phase}"
    failed = status.state is TaskState.FAILED and is_final(status, spec.max_retries)
    if not failed and not conflict.is_stalled(status):
        return RefusalReason.NOTHING_TO_RETRY, f"it is {status.state or TaskState.OPEN}"
    return None


VERBS: Mapping[str, Verb] = {RETRY: _retry}
