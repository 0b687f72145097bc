"""Conditions: set, removed, and never rewritten when nothing changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from bernstein.api.meta import Condition
from bernstein.core.sanitise import text as sanitise

Status = Literal["True", "False", "Unknown"]


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    return next((c for c in conditions if c.type == kind), None)


def is_true(conditions: Iterable[Condition], kind: str) -> bool:
    found = find(conditions, kind)
    return found is not None and found.status == "True"


def put(
    conditions: tuple[Condition, ...],
    kind: str,
    status: Status,
    reason: str,
    message: str = "",
    *,
    generation: int,
    now: datetime,
) -> tuple[Condition, ...]:
    """With this condition; the transition time changes only with the status."""
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
    return tuple(c for c in conditions if c.type not in kinds)
