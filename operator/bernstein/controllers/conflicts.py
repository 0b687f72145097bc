"""A name that we need is taken by an object that is not ours: a person must choose."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from bernstein.core import conditions, progress
from bernstein.core.remedies import with_remedy
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import controller_of

REASON = NameConflict.reason


class _Hold(Protocol):
    @property
    def reason(self) -> str: ...


class _Status(progress.Status, Protocol):
    @property
    def hold(self) -> _Hold | None: ...


S = TypeVar("S", bound=_Status)


def describe(conflict: NameConflict) -> str:
    """Which object has the name, and whose it is."""
    live = conflict.live
    text = f"{live['kind']} '{live['metadata']['name']}' exists already"
    owner = controller_of(live)
    if owner is not None:
        return f"{text} and belongs to {owner['kind']} '{owner['name']}'"
    return f"{text} and was made by someone else"


def stalled(status: S, message: str, generation: int, now: datetime) -> S:
    """The status of before, and that it waits for the name."""
    seen = status.model_copy(update={"observed_generation": generation})
    text = with_remedy(message, REASON)
    return progress.stalled(seen, REASON, text, now)


def resolved(status: S, now: datetime) -> S:
    """The status without a conflict that is over (one that a hold tells of is not)."""
    found = conditions.find(status.conditions, "Stalled")
    held = status.hold is not None and status.hold.reason == REASON
    if found is None or found.reason != REASON or held:
        return status
    if conditions.find(status.conditions, "Succeeded") is not None:
        return status.model_copy(
            update={"conditions": conditions.drop(status.conditions, "Stalled")}
        )
    return progress.busy(status, "Resumed", "the name is free", now)
