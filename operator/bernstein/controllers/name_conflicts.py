"""A name that we need is taken by an object that is not ours: a person must decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from bernstein.api.meta import ConditionType
from bernstein.api.waiting import Hold
from bernstein.controllers import job_actions
from bernstein.core import conditions
from bernstein.core.actions import Decision
from bernstein.core.reasons import PROBE_SECONDS, with_remedy
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import controller_of

REASON = NameConflict.reason
_PROGRESS = {ConditionType.STALLED, ConditionType.RECONCILING, ConditionType.SUCCEEDED}


class _Status(conditions.Progress, Protocol):
    @property
    def hold(self) -> Hold | None: ...


S = TypeVar("S", bound=_Status)


class _Snapshot(job_actions.Snapshot, Protocol[S]):
    @property
    def status(self) -> S: ...
    @property
    def generation(self) -> int: ...
    def with_status(self, status: S) -> Self: ...


N = TypeVar("N", bound=_Snapshot[Any])
A = TypeVar("A")


async def carry_out(
    snapshot: N,
    decide: Callable[[N, datetime], Decision[S, A]],
    execute: Callable[[N, Any], Awaitable[None]],
    now: datetime,
    *,
    before: S,
) -> tuple[S, float | None]:
    """Decides and executes; returns the status to write, and in how many seconds to look again.

    Where a name is taken, the status is `before`, Stalled until the name is free. A conflict that
    stood there is decided about as if it were over: it comes back if it is not.
    """
    free = snapshot.with_status(_without_conflict(snapshot.status))
    try:
        decision = await job_actions.carry_out(free, decide, execute, now)
    except NameConflict as conflict:
        status = before.model_copy(update={"observed_generation": snapshot.generation})
        text = with_remedy(describe(conflict), REASON)
        return conditions.stalled(status, REASON, text, now), PROBE_SECONDS
    return _resumed(snapshot.status, decision.status, now), decision.requeue_after


def _without_conflict(status: S) -> S:
    """The status without the stall of a conflict, unless a hold for a conflict still runs."""
    stall = conditions.find(status.conditions, ConditionType.STALLED)
    held = status.hold is not None and status.hold.reason == REASON
    if stall is None or stall.reason != REASON or held:
        return status
    return status.model_copy(
        update={"conditions": conditions.drop(status.conditions, ConditionType.STALLED)}
    )


def _resumed(before: S, status: S, now: datetime) -> S:
    """What was decided about a status without its conflict, as a step from the one `before`."""
    said = {condition.type for condition in status.conditions}
    if conditions.is_stalled(before) and not said & _PROGRESS:
        status = conditions.busy(status, "Resumed", "the name is free", now)
    return conditions.since(before.conditions, status)


def describe(conflict: NameConflict) -> str:
    """Which object has the name, and whose it is."""
    live = conflict.live
    text = f"{live['kind']} '{live['metadata']['name']}' exists already"
    owner = controller_of(live)
    if owner is not None:
        return f"{text} and belongs to {owner['kind']} '{owner['name']}'"
    return f"{text} and was made by someone else"
