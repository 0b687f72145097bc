"""How long a provider asks us to wait until a request is sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.web import retry_after
from bernstein.web.json_values import items, mapping, text_of

MOST_SECONDS = 24 * 3600.0
"""That a provider may ask us to wait."""
_MOST_DETAILS = 32


def asked(headers: Mapping[str, str], error: Any, now: float) -> float | None:
    """Seconds that a provider asks to wait, at most MOST_SECONDS; None: it does not say.

    `headers` of its answer, with lower-case names or of a mapping that does not mind; `error`: its
    error, for Gemini says so there; `now`: Unix time.
    """
    for said in (
        retry_after.number(headers.get("retry-after-ms"), 0.001),
        retry_after.seconds(headers, now),
        _delay(error),
    ):
        if said is not None:
            return min(said, MOST_SECONDS)
    return None


def _delay(error: Any) -> float | None:
    for detail in map(mapping, items(mapping(error).get("details"))[:_MOST_DETAILS]):
        delay = text_of(detail.get("retryDelay"))
        if delay.endswith("s"):
            return retry_after.number(delay[:-1])
    return None
