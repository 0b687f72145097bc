"""kstatus: at work (Reconciling), needs a person (Stalled), or neither."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, Self, TypeVar

from bernstein.api.meta import Condition
from bernstein.core import conditions


class Status(Protocol):
    """What the statuses of our kinds have in common."""

    @property
    def conditions(self) -> tuple[Condition, ...]: ...
    @property
    def observed_generation(self) -> int: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


S = TypeVar("S", bound=Status)


def busy(status: S, reason: str, message: str, now: datetime) -> S:
    """Work goes on by itself."""
    return _put(status, "Reconciling", "True", reason, message, now, "Stalled", "Succeeded")


def stalled(status: S, reason: str, message: str, now: datetime) -> S:
    """A person must look at it; the message says at what."""
    return _put(status, "Stalled", "True", reason, message, now, "Reconciling")


def ended(status: S, success: bool, reason: str, message: str, now: datetime) -> S:
    """Nothing more will happen. A failure that a person must look at is Stalled besides."""
    word: conditions.Status = "True" if success else "False"
    return _put(status, "Succeeded", word, reason, message, now, "Reconciling", "Stalled")


def note(status: S, kind: str, truth: bool, reason: str, message: str, now: datetime) -> S:
    """A condition beside those of progress."""
    return _put(status, kind, "True" if truth else "False", reason, message, now)


def _put(
    status: S,
    kind: str,
    word: conditions.Status,
    reason: str,
    message: str,
    now: datetime,
    *dropped: str,
) -> S:
    kept = conditions.drop(status.conditions, *dropped)
    new = conditions.put(
        kept, kind, word, reason, message, generation=status.observed_generation, now=now
    )
    return status.model_copy(update={"conditions": new})
