"""A name that we need is taken by an object that is not ours: a person must decide."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from bernstein.core import conditions
from bernstein.core.reasons import PROBE_SECONDS, with_remedy
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import controller_of

REASON = NameConflict.reason


class _Hold(Protocol):
    @property
    def reason(self) -> str: ...


class _Status(conditions.Progress, Protocol):
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


def stalled(status: S, conflict: NameConflict, generation: int, now: datetime) -> tuple[S, float]:
    """The status that stood before, Stalled until the name is free, and the seconds until it is
    tried again."""
    status = status.model_copy(update={"observed_generation": generation})
    text = with_remedy(describe(conflict), REASON)
    return conditions.stalled(status, REASON, text, now), PROBE_SECONDS


def resolved(status: S, now: datetime) -> S:
    """The status without the stall of a conflict, unless a hold for a conflict still runs."""
    stall = conditions.find(status.conditions, "Stalled")
    held = status.hold is not None and status.hold.reason == REASON
    if stall is None or stall.reason != REASON or held:
        return status
    if conditions.find(status.conditions, "Succeeded") is not None:
        return status.model_copy(
            update={"conditions": conditions.drop(status.conditions, "Stalled")}
        )
    return conditions.busy(status, "Resumed", "the name is free", now)
