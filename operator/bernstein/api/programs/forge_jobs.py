"""The Jobs that ask a forge. What they are told is elsewhere, and no other program loads it."""

from __future__ import annotations

from dataclasses import dataclass

PROPOSE = "propose"
WATCH = "watch"
LISTEN = "listen"
FORGE_JOBS = (PROPOSE, WATCH, LISTEN)
"""Each has a container and a program of its name."""


@dataclass(frozen=True, slots=True)
class AskedForge:
    """What a program asked of a forge until it failed."""

    retry_after: int | None = None
    """Seconds after which the forge takes requests again; None: it does not say."""
    requests: int = 0
    unchanged: int = 0
    """As those of a WatchResult."""
