"""A name that we need is taken by an object that is not ours: a person must decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from bernstein.controllers import job_actions
from bernstein.core import waiting
from bernstein.core.actions import Decision
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import controller_of

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
    free = snapshot.with_status(waiting.unblocked(snapshot.status))
    try:
        decision = await job_actions.carry_out(free, decide, execute, now)
    except NameConflict as conflict:
        status = waiting.blocked(before, describe(conflict), now)
        status = status.model_copy(update={"observed_generation": snapshot.generation})
        return tell(status, now), waiting.seconds_left(status.waiting, None, now)
    return tell(decision.status, now), decision.requeue_after


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
