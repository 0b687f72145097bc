"""When a request is sent again: as the provider asks, else later and later."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from bernstein.llm.formats.format import items, mapping, text_of

MOST_SECONDS = 24 * 3600.0
"""That a provider may ask us to wait."""
_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 30.0
_MOST_DETAILS = 32


def asked(headers: Mapping[str, str], error: Any, now: float) -> float | None:
    """Seconds that a provider asks to wait, at most MOST_SECONDS; None: it does not say.

    `headers` of its answer, with lower-case names or of a mapping that does not mind; `error`: its
    error, for Gemini says so there; `now`: Unix time.
    """
    for said in (
        _scaled(headers.get("retry-after-ms"), 0.001),
        _scaled(headers.get("retry-after"), 1.0),
        _until(headers.get("retry-after"), now),
        _delay(error),
    ):
        if said is not None:
            return min(said, MOST_SECONDS)
    return None


def pause(before: int, said: float | None, chance: float) -> float:
    """Seconds until the request is sent again that was sent `before` times.

    `chance`, from 0 to 1, spreads what several wait who failed together.
    """
    if said is not None:
        return said
    return min(_FIRST_SECONDS * 2.0 ** (before - 1), _LONGEST_SECONDS) * (0.5 + chance / 2)


def _scaled(text: str | None, unit: float) -> float | None:
    """A number that is not negative, of such units, as seconds."""
    try:
        seconds = float(text or "") * unit
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(text: str | None, now: float) -> float | None:
    """Seconds until a date of HTTP; 0 if it is over."""
    try:
        return max(0.0, parsedate_to_datetime(text or "").timestamp() - now)
    except (ValueError, OverflowError, OSError):
        return None


def _delay(error: Any) -> float | None:
    for detail in map(mapping, items(mapping(error).get("details"))[:_MOST_DETAILS]):
        delay = text_of(detail.get("retryDelay"))
        if delay.endswith("s"):
            return _scaled(delay[:-1], 1.0)
    return None
