"""Requests of people: each is answered once, with the write that does what it asks for.

Adding a verb: its word in `bernstein.api.requests`, and a line in the `VERBS` of `core/tasks` or
`core/plans`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import Literal, Protocol, Self, TypeVar

from bernstein.api.requests import MOST_ANSWERS, MOST_REQUESTS, Answer, RefusalReason, Request
from bernstein.core.sanitise import line


class Answering(Protocol):
    """What is read and written of a status."""

    @property
    def requests(self) -> tuple[Answer, ...] | None: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


R = TypeVar("R", bound=Request)
S = TypeVar("S", bound=Answering)
A = TypeVar("A", covariant=True)
T = TypeVar("T", bound=Answering, covariant=True)
AT_ONCE = "it is tried again at once"
ON_THE_TIP = "the same work is judged on the branch as it is now"
WITHOUT_A_ROUND = (AT_ONCE, ON_THE_TIP)
"""What a Retry is answered that begins no round."""


class Step(Protocol[T, A]):
    """What one request comes to: the status with its answer, or without it yet and what must be
    done first."""

    @property
    def status(self) -> T: ...
    @property
    def actions(self) -> tuple[A, ...]: ...
    @property
    def requeue_after(self) -> float | None: ...


def unanswered(asked: Iterable[R], answers: Iterable[Answer] | None) -> list[R]:
    """The requests that have no answer, in their order."""
    known = {answer.id for answer in answers or ()}
    return [request for request in asked if request.id not in known]


def each(
    status: S,
    asked: Collection[R],
    verbs: Collection[str],
    step: Callable[[S, R], Step[S, A]],
    now: datetime,
) -> tuple[S, tuple[A, ...], float | None]:
    """One look at every request without an answer, in turn; `asked`: all of the object's spec.

    Returns the status with the answers that can be given now, what the others need first, and the
    seconds until one of them is to be looked at again. Where none can be given, it is the very
    status that was given.
    """
    actions: tuple[A, ...] = ()
    again: float | None = None
    for request in unanswered(asked, status.requests):
        if request.verb not in verbs:
            status = unknown(status, asked, request, now)
            continue
        taken = step(status, request)
        status, actions = taken.status, (*actions, *taken.actions)
        again = taken.requeue_after or again
    return status, actions, again


def answer_for(request: str, answers: Iterable[Answer] | None) -> Answer | None:
    """The answer to the request of this id; None: there is none."""
    return next((answer for answer in answers or () if answer.id == request), None)


def with_room(asked: Iterable[R], answers: Iterable[Answer] | None) -> tuple[R, ...]:
    """The requests with room for one more, where there is some: answered ones go, whoever asked,
    the oldest first."""
    kept, answered = list(asked), {answer.id for answer in answers or ()}
    for request in tuple(kept):
        if len(kept) >= MOST_REQUESTS and request.id in answered:
            kept.remove(request)
    return tuple(kept)


def done(status: S, asked: Collection[Request], request: Request, message: str, now: datetime) -> S:
    """The status that says that it was done; `asked`: all requests of the object's spec."""
    return _answered(status, asked, request, "Done", request.verb, message, now)


def refused(
    status: S,
    asked: Collection[Request],
    request: Request,
    why: str,
    message: str,
    now: datetime,
) -> S:
    """The status that says why it was not done. `why`: a RefusalReason, or a Reason."""
    return _answered(status, asked, request, "Refused", why, message, now)


def unknown(status: S, asked: Collection[Request], request: Request, now: datetime) -> S:
    text = "this operator does not know the verb: it is older than the CRDs"
    return refused(status, asked, request, RefusalReason.OPERATOR_TOO_OLD, text, now)


def _answered(
    status: S,
    asked: Collection[Request],
    request: Request,
    answer: Literal["Done", "Refused"],
    reason: str,
    message: str,
    now: datetime,
) -> S:
    new = Answer(
        id=request.id,
        verb=request.verb,
        by=line(request.by, 300),
        asked=line(request.reason, 300),
        answer=answer,
        reason=reason,
        message=line(message, 500),
        time=now,
    )
    return status.model_copy(update={"requests": _kept((*(status.requests or ()), new), asked)})


def _kept(answers: tuple[Answer, ...], asked: Iterable[Request]) -> tuple[Answer, ...]:
    """As many as there is room for: all to requests that still stand, and of others the last."""
    still = {request.id for request in asked}
    old = [answer.id for answer in answers if answer.id not in still]
    forgotten = set(old[: max(len(answers) - MOST_ANSWERS, 0)])
    return tuple(answer for answer in answers if answer.id not in forgotten)
