"""Words of the agent, made harmless."""

from __future__ import annotations

from bernstein.core import sanitise


def harmless(message: str, limit: int) -> str:
    """An agent's text for logs and statuses: sanitised, without what looks like a secret, and at
    most `limit` characters long."""
    # Imported here because the detectors take a moment to load, and many agents say nothing.
    from bernstein.checks import secrets

    return sanitise.text(secrets.mask(message[: 4 * limit]), limit)


def harmless_line(message: str, limit: int) -> str:
    """Like `harmless`, on one line."""
    return sanitise.line(harmless(message, limit), limit)
