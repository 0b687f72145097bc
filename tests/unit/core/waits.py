"""What a Task or a Plan waits for, in tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bernstein.api.waiting import Tried, Waiting

SINCE = datetime(2030, 1, 1, 11, 59, tzinfo=UTC)


def waits(reason: str, message: str = "", **more: Any) -> Waiting:
    """It waits for this."""
    fields = {"reason": reason, "message": message, "since": SINCE}
    return Waiting.model_validate(fields | more)


def held(reason: str, until: datetime | None, message: str = "", **more: Any) -> Waiting:
    """It has tried this itself, with the first generation of the Project."""
    tried = Tried(reason=reason, generation=1)
    return waits(reason, message, **({"until": until, "tried": tried} | more))
