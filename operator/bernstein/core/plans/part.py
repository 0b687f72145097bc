"""A Plan of which a part is delivered, without the rest: what is Closed, judged as a whole.

    asked for ──▶ other Tasks end ──▶ the tip is judged ──▶ Landing ──▶ DeliveredPartially
        │                │                   │                │
        ▼                └───────────────────┴────────────────┘ rejected, in conflict, cancelled
    Refused                                  ▼
                              Refused; the Plan is what it was, and nothing has landed

Somebody asks for it by a DeliverPartial, which is answered with the end. `status.partial` is
written before anything is done: whatever crashes, no Task of the Plan begins any more, and none
gets another round. Only what every check has passed as a whole lands, by the way that a Plan's work
always takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from bernstein.api.plan import DELIVERED_PARTIALLY, PartialDelivery, Plan, PlanSpec, PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.requests import Answer, PlanRequest, RefusalReason
from bernstein.api.task import Task
from bernstein.api.waiting import Cancel, WaitReason
from bernstein.core import requests
from bernstein.core.actions import CancelTasks, PlanDecision
from bernstein.core.delivery import end, proposal
from bernstein.core.delivery import plan as plan_delivery
from bernstein.core.delivery.landing import has_started
from bernstein.core.fsm import is_final
from bernstein.core.plans.nodes import standing
from bernstein.core.plans.standstill import blocked_by, watch
from bernstein.core.plans.tally import tallied
from bernstein.core.sanitise import count
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.expected import plan as verification
from bernstein.core.verification.round import afresh, again
from bernstein.core.waiting import goes_on

_ENDED = ("Failed", "Cancelled")
"""Phases of Plans that have ended, and may be delivered in part."""
_WAIT = "Remedy: wait until it has ended or stands still, or cancel it first"
_GOES_ON = (RefusalReason.STILL_MOVES, f"it goes on by itself. {_WAIT}")
_IS_ASKED = (
    RefusalReason.STILL_MOVES,
    "it goes on once a person has decided. "
    "Remedy: decide what `bernstein pending` lists, or cancel it first",
)
_WITHOUT_IT = "its Plan is delivered without it"


def is_on_its_way(status: PlanStatus) -> bool:
    """Whether a part of the Plan is being delivered."""
    return status.partial is not None and status.ended_at is None


def outlives_cancel(status: PlanStatus) -> bool:
    """It was cancelled before that was asked for: the cancel is no answer to it."""
    return status.partial is not None and status.partial.after == "Cancelled"


# --- asked for ------------------------------------------------------------------------------------


def ask(
    snapshot: PlanSnapshot, status: PlanStatus, request: PlanRequest, now: datetime
) -> PlanDecision:
    """The status in which it has begun, or that says why not; it waits for requests before it."""
    asked = snapshot.plan.spec.requests
    if is_on_its_way(status) and status.partial and status.partial.request == request.id:
        return PlanDecision(status)
    if not is_on_its_way(status) and requests.unanswered(asked, status.requests)[0] != request:
        return PlanDecision(status)
    refusal = _why_not(snapshot, status, now)
    if refusal is not None:
        return PlanDecision(requests.refused(status, asked, request, *refusal, now))
    begun = {
        "partial": PartialDelivery(request=request.id, after=_left(snapshot, status)),
        "phase": "Delivering",
        "ended_at": None,
        "delivery": None,
        "gate_errors": 0,
        "infrastructure_failures": 0,
    }
    return PlanDecision(goes_on(status).model_copy(update=begun))


def _left(snapshot: PlanSnapshot, status: PlanStatus) -> str:
    """The phase in which it is again if that comes to nothing."""
    if status.ended_at is None or status.phase is None:
        return "Stalled"
    # A cancel of what had failed already had no effect; it must not end what is asked for after it.
    return status.phase if snapshot.plan.spec.cancel is None else "Cancelled"


def shown_why_not(plan: Plan) -> tuple[str, str] | None:
    """Why it would be refused, as far as the Plan alone shows, before it is asked for. None: only
    a look at all that is there tells, as where its status is older than its spec."""
    status = plan.status
    if status.observed_generation != plan.metadata.generation:
        return None
    refusal = _ends_otherwise(plan.spec, status) or _nothing_landed(status)
    if refusal is not None or status.ended_at is not None:
        return refusal
    return _is_whole(plan, status) or _moves(status)


def _why_not(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> tuple[str, str] | None:
    refusal = _ends_otherwise(snapshot.plan.spec, status)
    if refusal is not None:
        return refusal
    if snapshot.project is None:
        return _no_project(snapshot)
    refusal = _nothing_landed(status) or _surprise(snapshot) or _refs_go(snapshot, status, now)
    if refusal is not None or status.ended_at is not None:
        return refusal
    return _is_whole(snapshot.plan, status) or _moves(watch(snapshot, goes_on(status), now))


def _moves(status: PlanStatus) -> tuple[str, str] | None:
    if status.phase != "Running":
        return None
    waiting = status.waiting
    asked = waiting is not None and waiting.reason == WaitReason.AWAITING_APPROVAL
    return _IS_ASKED if asked else _GOES_ON


def _ends_otherwise(spec: PlanSpec, status: PlanStatus) -> tuple[str, str] | None:
    if is_on_its_way(status):
        return RefusalReason.BEING_DELIVERED, "what is Closed of it is being delivered already"
    ended = status.ended_at is not None
    if ended and status.phase not in _ENDED:
        return RefusalReason.PLAN_ENDED, f"it has ended: {status.phase}"
    if not ended and spec.cancel is not None:
        return RefusalReason.CANCELLED, "it is being cancelled: ask again once it is Cancelled"
    if spec.suspend:
        return RefusalReason.SUSPENDED, "it is suspended: resume it first"
    return None


def _nothing_landed(status: PlanStatus) -> tuple[str, str] | None:
    if status.repositories:
        text = "it works in several repositories, which are delivered once all steps are Closed"
        return RefusalReason.NOTHING_TO_DELIVER, text
    if status.integration is not None and status.integration.per is not None:
        return RefusalReason.NOTHING_TO_DELIVER, "each of its Tasks delivers its own work"
    if status.integration is None or status.integration.sha is None:
        return RefusalReason.NOTHING_TO_DELIVER, "nothing of it has landed"
    return None


def _is_whole(plan: Plan, status: PlanStatus) -> tuple[str, str] | None:
    whole = status.counts.closed == status.counts.total
    if status.workflow is not None:
        whole = standing.is_whole(plan, status)
    if whole:
        text = f"all of its Tasks are Closed: it is delivered as a whole. {_WAIT}"
        return RefusalReason.STILL_MOVES, text
    return None


def _no_project(snapshot: PlanSnapshot) -> tuple[str, str]:
    assert snapshot.project_problem is not None
    return snapshot.project_problem.reason, snapshot.project_problem.message


def _surprise(snapshot: PlanSnapshot) -> tuple[str, str] | None:
    """What is on the integration ref is not what the Plan's ledger tells."""
    strange = tallied(snapshot).outside
    if strange:
        which = ", ".join(f"'{name}'" for name in strange[:5])
        return Reason.UNKNOWN_LANDING, f"Merged, but not in its ledger of landings: {which}"
    for _, task in sorted(snapshot.tasks.items()):
        waiting = task.status.waiting
        if waiting is not None and waiting.reason == Reason.INTEGRATION_MOVED:
            return waiting.reason, f"Task '{task.metadata.name}': {waiting.message}"
    return None


def _refs_go(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> tuple[str, str] | None:
    """Its refs are deleted, or are any moment: nobody begins with them what takes a while. What has
    failed keeps its own."""
    project, ended = snapshot.project, status.ended_at
    seconds = project.spec.retention.refs_seconds if project is not None else 0
    if ended is None or status.phase != "Cancelled" or not seconds:
        return None
    if now < ended + timedelta(seconds=seconds):
        return None
    text = f"refs of what was cancelled are deleted {seconds} s after its end"
    remedy = "Remedy: apply a Plan of what is left; retention.refsSeconds keeps refs for longer"
    return RefusalReason.NOTHING_TO_DELIVER, f"{text}. {remedy}"


# --- on its way -----------------------------------------------------------------------------------


def step(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step of a Plan of which a part is delivered."""
    if not is_on_its_way(snapshot.plan.status):
        return PlanDecision(status)  # it is written before anything is done
    late = cancel(snapshot)
    proposed = proposal.is_proposed(status) and snapshot.project is not None
    if has_started(status) or proposed:
        decision = deliver(snapshot, status, now)
        return replace(decision, actions=(*late, *decision.actions))
    assert status.partial is not None
    assert status.integration is not None
    others = [task for task in snapshot.tasks.values() if _goes_on(task)]
    judged = not others and status.partial.tip == status.integration.tip
    over = _comes_to_nothing(snapshot, status, judged=judged)
    if over is not None:
        return give_up(snapshot, status, *over, now)
    if others:
        return PlanDecision(_up_to(blocked_by(others, goes_on(status), now), None), late)
    if judged:
        return deliver(snapshot, status, now)
    begun = _up_to(status, status.integration.tip)
    return PlanDecision(again(begun, verification.of_tip(status.verification, status.integration)))


def _up_to(status: PlanStatus, tip: str | None) -> PlanStatus:
    """The status with the landing up to which it is delivered; None: other Tasks have to end."""
    assert status.partial is not None
    partial = status.partial.model_copy(update={"tip": tip})
    return status.model_copy(update={"partial": partial, "phase": "Delivering"})


def deliver(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanDecision:
    """The next step to the target; at its end the request is answered."""
    decision = plan_delivery.deliver(snapshot, status, now)
    status = decision.status
    if status.ended_at is None:
        return decision
    counts = status.counts
    text = f"{counts.closed} of {count(counts.total, 'Task')} delivered"
    for request in _asked(snapshot, status):
        status = requests.done(status, snapshot.plan.spec.requests, request, text, now)
    return replace(decision, status=status.model_copy(update={"phase": DELIVERED_PARTIALLY}))


def cancel(snapshot: PlanSnapshot) -> tuple[CancelTasks, ...]:
    """What ends the Tasks that are not over, and were not told yet."""
    tasks = snapshot.tasks.values()
    names = tuple(t.metadata.name for t in tasks if _goes_on(t) and t.spec.cancel is None)
    cancel = Cancel(reason=_WITHOUT_IT, by=_asked_by(snapshot))
    return (CancelTasks(names, cancel),) if names else ()


def _asked_by(snapshot: PlanSnapshot) -> str:
    """Who wants it delivered without them; "operator", where the request is gone unanswered."""
    status = snapshot.plan.status
    asked = status.partial.request if status.partial is not None else None
    every: tuple[PlanRequest | Answer, ...]
    every = (*snapshot.plan.spec.requests, *(status.requests or ()))
    return next((each.by for each in every if each.id == asked), "operator")


def _goes_on(task: Task) -> bool:
    return not is_final(task.status, task.spec.max_retries)


def _asked(snapshot: PlanSnapshot, status: PlanStatus) -> Iterable[PlanRequest]:
    """The request that it is done for."""
    unanswered = requests.unanswered(snapshot.plan.spec.requests, status.requests)
    by = status.partial.request if status.partial is not None else None
    return [request for request in unanswered if request.id == by]


# --- comes to nothing -----------------------------------------------------------------------------


def _comes_to_nothing(
    snapshot: PlanSnapshot, status: PlanStatus, *, judged: bool
) -> tuple[str, str] | None:
    """(reason, message): a verdict, a conflict, or what nothing mends by itself.

    What is tried again by itself is waited for, as with a whole Plan. Before it is `judged`, it
    says what keeps another Task from its end, which somebody may mend.
    """
    if snapshot.project is None:
        return _no_project(snapshot)
    surprise = _surprise(snapshot)
    if surprise is not None:
        return surprise
    waiting = status.waiting
    if not judged or waiting is None or not waiting.needs_person:
        return None
    conflict = status.delivery is not None and status.delivery.state == "Conflict"
    if waiting.until is not None and not conflict:
        return None
    return waiting.reason, waiting.message


def give_up(
    snapshot: PlanSnapshot, status: PlanStatus, reason: str, message: str, now: datetime
) -> PlanDecision:
    """Its Jobs are ended; then the request is refused, and the Plan is what it was."""
    stops = end.stop(plan_delivery.fences(snapshot, status, now), snapshot.jobs, now)
    if stops is not None:
        return PlanDecision(status, stops, end.CANCEL_SECONDS)
    assert status.partial is not None
    after, status = status.partial.after, refused(snapshot, status, reason, message, now)
    if after == "Cancelled":
        cancelled = goes_on(status).model_copy(update={"phase": "Cancelled"})
        return PlanDecision(end.cancelled(cancelled, now))
    return PlanDecision(watch(snapshot, goes_on(status), now))


def refused(
    snapshot: PlanSnapshot, status: PlanStatus, reason: str, message: str, now: datetime
) -> PlanStatus:
    """The status of a Plan of which no part is delivered after all; it keeps the verdicts."""
    text = f"nothing was delivered: {message}"
    for request in _asked(snapshot, status):
        status = requests.refused(status, snapshot.plan.spec.requests, request, reason, text, now)
    return status.model_copy(update={"partial": None})


def forgotten(status: PlanStatus) -> PlanStatus:
    """The status of a Plan that goes on after a part of it was not delivered.

    Once its Tasks have landed more, all of it is judged anew, by Jobs of names of their own.
    """
    judged = status.verification
    anew = None if judged is None else afresh(judged).model_copy(update={"lost": True})
    return status.model_copy(update={"verification": anew, "delivery": None})
