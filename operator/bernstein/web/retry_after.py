"""How long somebody asks us to wait until we ask again, as HTTP's headers say it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 30.0


def seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Of `Retry-After`, a number or a date; None: it does not say. `now`: Unix time."""
    said = headers.get("retry-after")
    count = number(said)
    return count if count is not None else _until(said, now)


def number(text: str | None, unit: float = 1.0) -> float | None:
    """A number that is not negative, of such units, as seconds."""
    try:
        count = float(text or "") * unit
    except ValueError:
        return None
    return count if math.isfinite(count) and count >= 0 else None


def _until(text: str | None, now: float) -> float | None:
    """Seconds until a date of HTTP; 0 if it is over."""
    try:
        return max(0.0, parsedate_to_datetime(text or "").timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None


def pause(before: int, said: float | None, chance: float) -> float:
    """Seconds until the request is sent again that was sent `before` times.

    `chance`, from 0 to 1, spreads what several wait who failed together.
    """
    if said is not None:
        return said
    return min(_FIRST_SECONDS * 2.0 ** (before - 1), _LONGEST_SECONDS) * (0.5 + chance / 2)
