"""Holds: waiting for something outside to change, until a time or until the Project changes."""

from __future__ import annotations

from datetime import datetime, timedelta

from bernstein.api.project import Project
from bernstein.api.waiting import Hold
from bernstein.core.reasons import PROBE_SECONDS
from bernstein.core.sanitise import text as sanitise

MESSAGE = 1500
"""Characters of the message of a hold, and of the failure that leads to it."""


def hold(
    reason: str, message: str, project: Project | None, now: datetime, seconds: int = PROBE_SECONDS
) -> Hold:
    """A hold that ends after `seconds`, or when the Project changes."""
    return Hold(
        reason=reason,
        message=sanitise(message, MESSAGE),
        retry_at=now + timedelta(seconds=seconds),
        generation=_generation(project),
    )


def is_mended(held: Hold, project: Project | None) -> bool:
    """The Project has changed since, so that the cause may be gone."""
    return project is not None and held.generation != _generation(project)


def seconds_left(held: Hold | None, project: Project | None, now: datetime) -> float | None:
    """Seconds until it is tried again; None: it may be tried now."""
    if held is None or now >= held.retry_at or is_mended(held, project):
        return None
    return (held.retry_at - now).total_seconds()


def _generation(project: Project | None) -> int:
    return project.metadata.generation if project is not None else 0
