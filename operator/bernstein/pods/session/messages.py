"""Messages of the agent: made harmless, and written to the recorder's log within limits."""

from __future__ import annotations

import time
from collections.abc import Callable

from bernstein.core import sanitise
from bernstein.pods import log

_LENGTH = 2000
_PER_MINUTE = 60
_BYTES = 512 << 10
"""Limits of one message (characters), of messages in a minute, and of all messages together
(bytes): the log is on the node's disk."""


def harmless(message: str, limit: int) -> str:
    """An agent's text for logs and statuses: sanitised, without what looks like a secret, and at
    most `limit` characters long."""
    # Imported here because the detectors take a moment to load, and many agents say nothing.
    from bernstein.checks import secrets

    return sanitise.text(secrets.mask(message[: 4 * limit]), limit)


def harmless_line(message: str, limit: int) -> str:
    """Like `harmless`, on one line."""
    return sanitise.line(harmless(message, limit), limit)


class Speech:
    """Writes messages as events `said`, each with its harmless `text`.

    An event's `left_out` counts the messages before it that were over the limit of a minute. When
    all messages together are over their limit, one event `says-too-much` ends them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minute = clock()
        self._in_minute = 0
        self._left_out = 0
        self._left = _BYTES

    def tell(self, message: str) -> None:
        """Log a message of the agent; an empty one is passed over."""
        if self._left < 0 or not message:
            return
        if not self._has_room():
            self._left_out += 1
            return
        text = harmless(message, _LENGTH)
        if not text:
            return
        self._in_minute += 1
        self._left -= len(text.encode())
        if self._left < 0:
            log.event("says-too-much", limit=_BYTES)
        elif self._left_out:
            log.event("said", text=text, left_out=self._left_out)
            self._left_out = 0
        else:
            log.event("said", text=text)

    def _has_room(self) -> bool:
        now = self._clock()
        if now - self._minute >= 60:
            self._minute, self._in_minute = now, 0
        return self._in_minute < _PER_MINUTE
