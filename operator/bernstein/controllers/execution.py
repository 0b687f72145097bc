"""What was decided is executed; what the cluster does not let happen is decided about, or told.

an object is refused ───────▶ it becomes part of the snapshot, and it is decided anew
a name is somebody else's ─┐
a change is refused ───────┤
an Approval is refused ────┴▶ the status stays what it was, and waits for a person
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from bernstein.api.reasons import Reason
from bernstein.controllers.job_actions import Refused
from bernstein.controllers.writer import ApprovalRefused
from bernstein.core import waiting
from bernstein.core.actions import Decision
from bernstein.core.jobs import JobView, refusal
from bernstein.kube.errors import NameConflict, WriteRefused
from bernstein.kube.resource import JOBS, controller_of


class Refusable(Protocol):
    """A snapshot that knows what was refused."""

    def with_job(self, job: JobView) -> Self: ...
    def with_refusal(self, message: str) -> Self:
        """With why anything else than a Job is refused."""


class _Decided(Protocol):
    @property
    def actions(self) -> Sequence[object]: ...


R = TypeVar("R", bound=Refusable)
D = TypeVar("D", bound=_Decided)
S = TypeVar("S", bound=waiting.Waits)


class _Snapshot(Refusable, Protocol[S]):
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
    before: Callable[[], S],
    has_ended: bool,
    tell: Callable[[S, datetime], S],
) -> tuple[S, float | None]:
    """Decides and executes; returns the status to write, and in how many seconds to look again.

    Where a name is taken, or a change or an Approval is refused, the status is that of `before` and
    waits for a person; `tell` makes its conditions. What stood there of it is decided about as if
    it were over: it comes back if it is not. How it ended stays: WriteRefused is raised where it
    `has_ended`.
    """
    free = snapshot.with_status(waiting.unblocked(snapshot.status))
    try:
        decision = await decide_and_execute(free, decide, execute, now)
    except NameConflict as conflict:
        status = waiting.blocked(before(), Reason.NAME_CONFLICT, describe(conflict), now)
    except WriteRefused as refused:
        if has_ended:
            raise
        asks = isinstance(refused, ApprovalRefused)
        reason: waiting.Blocks = Reason.APPROVAL_REFUSED if asks else Reason.WRITE_REFUSED
        status = waiting.blocked(before(), reason, str(refused), now)
    else:
        return tell(decision.status, now), decision.requeue_after
    status = status.model_copy(update={"observed_generation": snapshot.generation})
    return tell(status, now), waiting.seconds_left(status.waiting, None, now)


async def decide_and_execute(
    snapshot: R,
    decide: Callable[[R, datetime], D],
    execute: Callable[[R, Any], Awaitable[None]],
    now: datetime,
) -> D:
    """What was decided last, and executed.

    What the API server refuses to make becomes part of the snapshot, and it is decided anew.
    """
    while True:
        decision = decide(snapshot, now)
        try:
            for action in decision.actions:
                await execute(snapshot, action)
        except Refused as refused:
            if refused.resource == JOBS:
                told = refusal(refused.name, str(refused), now, taken=refused.taken)
                snapshot = snapshot.with_job(told)
            else:
                snapshot = snapshot.with_refusal(str(refused))
        else:
            return decision


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
