"""What the agent itself says: made harmless, and in the recorder's log within limits."""

from __future__ import annotations

import time
from collections.abc import Callable

from bernstein.core import sanitise
from bernstein.pods import log

_LENGTH = 2000
_PER_MINUTE = 60
_BYTES = 512 << 10
"""Of all messages together: the log lies on the node's disk."""


def harmless(message: str, limit: int) -> str:
    """Text of an agent's for logs and statuses: sanitised, and what looks like a secret masked."""
    # Only where an agent says something: the detectors take a moment to load.
    from bernstein.gates import pii_scan

    return sanitise.text(pii_scan.mask(message[: 4 * limit]), limit)


def harmless_line(message: str, limit: int) -> str:
    """Like `harmless`, on one line."""
    return sanitise.line(harmless(message, limit), limit)


class Speech:
    """Writes messages as events `said`, each with its harmless `text`.

    `left_out` counts the messages before it that went over the limit of a minute. When the limit of
    all is met, `says-too-much` is the last of these events.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._minute = clock()
        self._in_minute = 0
        self._left_out = 0
        self._left = _BYTES

    def tell(self, message: str) -> None:
        """Log a message of the agent's, if there is anything in it."""
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
