"""What a collector is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bernstein.core.traces.span import Span


@dataclass(frozen=True)
class Taken:
    """It has taken the spans, but for so many that it refused."""

    refused: int = 0
    message: str = ""
    """Why, in its own words; they may be anything."""


@dataclass(frozen=True)
class Later:
    """It takes nothing now, or nobody knows whether it has: the same spans may come again."""

    reason: str
    """In our words."""
    after: float | None = None
    """In how many seconds, where it says so."""


@dataclass(frozen=True)
class Refused:
    """It does not take these spans, however often they come."""

    reason: str
    """In our words."""


class Collector(Protocol):
    """Takes finished spans."""

    async def send(self, spans: Sequence[Span]) -> Taken | Later | Refused:
        """Raises nothing for what a collector or the network does."""
