"""A name that we need is taken by an object that is not ours: a person must decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from bernstein.api.waiting import Waiting
from bernstein.controllers import job_actions
from bernstein.core import waiting
from bernstein.core.actions import Decision
from bernstein.core.reasons import PROBE_SECONDS
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import controller_of

REASON = NameConflict.reason


S = TypeVar("S", bound=waiting.Waits)


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
    tell: Callable[[S, datetime], S],
) -> tuple[S, float | None]:
    """Decides and executes; returns the status to write, and in how many seconds to look again.

    Where a name is taken, the status is `before` and waits until the name is free; `tell` makes its
    conditions. A conflict that stood there is decided about as if it were over: it comes back if it
    is not.
    """
    free = snapshot.with_status(_without_conflict(snapshot.status))
    try:
        decision = await job_actions.carry_out(free, decide, execute, now)
    except NameConflict as conflict:
        status = before.model_copy(update={"observed_generation": snapshot.generation})
        new = _waiting(before.waiting, describe(conflict), now)
        assert new.until is not None
        status = status.model_copy(update={"waiting": new})
        return tell(status, now), (new.until - now).total_seconds()
    return tell(decision.status, now), decision.requeue_after


def _waiting(before: Waiting | None, text: str, now: datetime) -> Waiting:
    """Until the next try; one that is due yet stays as it is, whoever looks meanwhile."""
    new = waiting.wait(
        REASON,
        text,
        now,
        seconds=PROBE_SECONDS,
        needs_person=True,
        tried=before.tried if before is not None else None,
    )
    same = before is not None and (before.reason, before.message) == (new.reason, new.message)
    return before if before is not None and same and _is_due_yet(before, now) else new


def _is_due_yet(waits: Waiting, now: datetime) -> bool:
    return waiting.seconds_left(waits, None, now) is not None


def _without_conflict(status: S) -> S:
    """The status as if the name were free, unless it is a session that has met the conflict."""
    waits = status.waiting
    if waits is None or waits.reason != REASON:
        return status
    if waits.tried is not None and waits.tried.reason == REASON:
        return status
    return waiting.goes_on(status)


def describe(conflict: NameConflict) -> str:
    """Which object has the name, and whose it is."""
    live = conflict.live
    text = f"{live['kind']} '{live['metadata']['name']}' exists already"
    if conflict.differs == "spec":
        return f"{text}, and it says something else than the operator would have it say"
    owner = controller_of(live)
    if owner is not None:
        return f"{text} and belongs to {owner['kind']} '{owner['name']}'"
    return f"{text} and was made by someone else"
