"""Conditions: set, removed, and never rewritten when nothing changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, Protocol, Self, TypeVar

from bernstein.api.meta import Condition, ConditionType
from bernstein.api.reasons import Reason
from bernstein.core.sanitise import text as sanitise

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
    """The conditions with this one set; its transition time changes only with its status."""
    old = find(conditions, kind)
    since = old.last_transition_time if old is not None and old.status == status else now
    new = Condition(
        type=kind,
        status=status,
        reason=reason,
        message=sanitise(message, 4096),
        observed_generation=generation,
        last_transition_time=since,
    )
    if old == new:
        return conditions
    return (*(c for c in conditions if c.type != kind), new)


def drop(conditions: tuple[Condition, ...], *kinds: str) -> tuple[Condition, ...]:
    """The conditions without those of these types."""
    return tuple(c for c in conditions if c.type not in kinds)


class Progress(Protocol):
    """What the statuses of our kinds have in common."""

    @property
    def conditions(self) -> tuple[Condition, ...]: ...
    @property
    def observed_generation(self) -> int: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


S = TypeVar("S", bound=Progress)


def since(before: tuple[Condition, ...], status: S) -> S:
    """The status with the times of those conditions whose truth is as it was before."""

    def timed(condition: Condition) -> Condition:
        old = find(before, condition.type)
        if old is None or old.status != condition.status:
            return condition
        return condition.model_copy(update={"last_transition_time": old.last_transition_time})

    return status.model_copy(update={"conditions": tuple(map(timed, status.conditions))})


def busy(status: S, reason: str, message: str, now: datetime) -> S:
    """Work goes on by itself."""
    return _put(
        status,
        ConditionType.RECONCILING,
        "True",
        reason,
        message,
        now,
        ConditionType.STALLED,
        ConditionType.SUCCEEDED,
    )


def is_cancelling(status: Progress) -> bool:
    """Its end has begun: whatever may still run is being ended."""
    found = find(status.conditions, ConditionType.RECONCILING)
    return found is not None and found.status == "True" and found.reason == "Cancelling"


def stalled(status: S, reason: str, message: str, now: datetime) -> S:
    """A person must look at it; the message says at what."""
    return _put(
        status, ConditionType.STALLED, "True", reason, message, now, ConditionType.RECONCILING
    )


def ended(status: S, success: bool, reason: str, message: str, now: datetime) -> S:
    """Nothing more will happen. The caller adds Stalled where a person must look at a failure."""
    truth: Truth = "True" if success else "False"
    return _put(
        status,
        ConditionType.SUCCEEDED,
        truth,
        reason,
        message,
        now,
        ConditionType.RECONCILING,
        ConditionType.STALLED,
    )


def cancelled(status: S, why: str, now: datetime) -> S:
    """It ended because somebody asked for it; that an earlier look had refused that is over."""
    left = drop(status.conditions, ConditionType.CANCEL_REFUSED)
    status = status.model_copy(update={"conditions": left})
    return ended(status, False, Reason.CANCELLED, why, now)


def is_stalled(status: Progress) -> bool:
    """Whether the condition Stalled is True."""
    return is_true(status.conditions, ConditionType.STALLED)


def note(status: S, kind: str, truth: bool, reason: str, message: str, now: datetime) -> S:
    """Sets a condition that says nothing about progress."""
    return _put(status, kind, "True" if truth else "False", reason, message, now)


def _put(
    status: S,
    kind: str,
    truth: Truth,
    reason: str,
    message: str,
    now: datetime,
    *dropped: str,
) -> S:
    others, generation = drop(status.conditions, *dropped), status.observed_generation
    new = put(others, kind, truth, reason, message, generation=generation, now=now)
    return status.model_copy(update={"conditions": new})
