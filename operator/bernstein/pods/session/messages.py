"""Words of the agent, made harmless: in its log, its progress and the end of its run alike."""

from __future__ import annotations

import re

from bernstein.checks.content.private_keys import PrivateKeys
from bernstein.core import sanitise
from bernstein.observe import redact

_CUT = 256
"""Characters before a cut in which a secret may have begun that is no longer known by its form."""
_REST_OF_TOKEN = re.compile(r"\A…[\w.+/=~-]+", re.ASCII)


def harmless(message: str, limit: int, keys: PrivateKeys | None = None) -> str:
    """An agent's text for logs and statuses: sanitised, without what looks like a secret, and at
    most `limit` characters long. `keys` has seen what came before it, if anything did.

    What a reader would see is looked through, and the text as it came as well: colours and
    characters without width hide a secret from the one, and what they part is joined in the other.
    """
    whole = message[: 4 * limit]
    seen = sanitise.text(whole, 4 * limit)
    if len(message) > len(whole):
        seen = seen[:-_CUT].rstrip() + sanitise.ELLIPSIS
    if len(message) >= limit:  # only what was cut begins in the middle of a word
        seen = _REST_OF_TOKEN.sub(sanitise.ELLIPSIS, seen)
    masked = _masked(whole, (keys or PrivateKeys()).without(seen))
    return sanitise.text(masked[: limit + 1], limit)


def harmless_line(message: str, limit: int) -> str:
    """Like `harmless`, on one line."""
    return sanitise.line(harmless(message, limit), limit)


def _masked(raw: str, seen: str) -> str:
    """`seen` without the secrets in it, and without those of `raw`, of which it was made."""
    # Imported here because the detectors take a moment to load, and many agents say nothing.
    from bernstein.checks.content import secrets

    masked = redact.without_secrets(secrets.mask(seen))
    if raw == seen:
        return masked
    for secret in secrets.found(raw) | redact.found(raw):
        shown = sanitise.text(secret, len(secret))
        masked = masked.replace(shown, "***") if shown else masked
    return masked
