"""Conditions: set, removed, and never rewritten when nothing changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, Protocol, Self, TypeVar

from bernstein.api.meta import Condition, ConditionType
from bernstein.core.sanitise import text as sanitise
from bernstein.core.sanitise import without_quotes

Truth = Literal["True", "False", "Unknown"]


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of this type."""
    return next((c for c in conditions if c.type == kind), None)


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    condition = find(conditions, kind)
    return condition is not None and condition.status == "True"


def put(
    conditions: tuple[Condition, ...],
    kind: str,
    status: Truth,
    reason: str,
    message: str = "",
    *,
    generation: int,
    now: datetime,
) -> tuple[Condition, ...]:
    """The conditions with this one set; its transition time changes only with its status.

    Nobody is quoted in one: it is shown and kept by more than those who may read a pod's log.
    """
    old, since = find(conditions, kind), now
    told = sanitise(without_quotes(message), 4096)
    if old is not None and old.status == status:
        said = (old.reason, old.message, old.observed_generation)
        if said == (reason, told, generation):
            return conditions
        since = old.last_transition_time
    new = Condition(
        type=kind,
        status=status,
        reason=reason,
        message=told,
        observed_generation=generation,
        last_transition_time=since,
    )
    return (*(c for c in conditions if c.type != kind), new)


def drop(conditions: tuple[Condition, ...], *kinds: str) -> tuple[Condition, ...]:
    """The conditions without those of these types; the same where there are none."""
    kept = tuple([c for c in conditions if c.type not in kinds])
    return conditions if len(kept) == len(conditions) else kept


class Progress(Protocol):
    """What the statuses of our kinds have in common."""

    @property
    def conditions(self) -> tuple[Condition, ...]: ...
    @property
    def observed_generation(self) -> int: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


S = TypeVar("S", bound=Progress)


def busy(status: S, reason: str, message: str, now: datetime) -> S:
    """A session is at work."""
    return note(status, ConditionType.RECONCILING, True, reason, message, now)


def is_cancelling(status: Progress) -> bool:
    """Its end has begun: whatever may still run is being ended."""
    doing = find(status.conditions, ConditionType.RECONCILING)
    return doing is not None and doing.status == "True" and doing.reason == "Cancelling"


def note(status: S, kind: str, truth: bool, reason: str, message: str, now: datetime) -> S:
    """Sets a condition."""
    new = put(
        status.conditions,
        kind,
        "True" if truth else "False",
        reason,
        message,
        generation=status.observed_generation,
        now=now,
    )
    return status if new is status.conditions else status.model_copy(update={"conditions": new})
