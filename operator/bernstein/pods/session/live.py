"""The agent's output for people who look on: made harmless, and written to a file within limits.

The launcher copies that file, as it grows, into the log of the agent's container: so the agent
waits for nobody who reads it, and what it shows has passed here before.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable

from bernstein.checks.content.private_keys import PrivateKeys
from bernstein.core.sanitise import count
from bernstein.pods import log
from bernstein.pods.session.messages import harmless

LINE_CHARACTERS = 2000
"""Of what one line of the agent's output shows; the rest is cut."""
PER_SECOND = 16 << 10
AT_ONCE = 128 << 10
"""Characters a second, and as many at once after a pause."""
TOTAL = 2 << 20
"""Bytes in all: the log is on the node's disk."""
OVERHEAD = 64
"""What a line takes besides its own: the node's log has its time, and so has what is read."""

_LOOKED_AT = 4 * LINE_CHARACTERS
_OVERLAP = 512
"""Characters that are looked through for the lines shown, and those of them that are looked through
again with the rest: the first look leaves out what a cut may have gone through."""
_OURS = "[bernstein: "
_LIKE_OURS = re.compile(r"\s*\[\s*(?:bernstein|[^\]:]{0,30}[^\x00-\x7f])", re.IGNORECASE)
"""A line that begins like one of ours, or with letters that may look so."""


class Live:
    """Writes what an agent shows, line by line; what was left out is said in its place."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o644)
        self._clock = clock
        self._filled = clock()
        self._room = float(AT_ONCE)
        self._left = TOTAL - os.fstat(self._file).st_size  # of a recorder that was started before
        self._out_lines = self._out_bytes = 0
        self._keys = PrivateKeys()
        self._notes: set[str] = set()

    def close(self) -> None:
        os.close(self._file)

    def tell(self, output: str) -> None:
        """Show a piece of the agent's output, which may have several lines; "" is passed over."""
        if not output:
            return
        if self._left <= 0:
            self._keys.pass_over(output)
            return
        if not self._has_room():
            self._keys.pass_over(output)
            self._out_lines += output.count("\n") + 1
            self._out_bytes += len(output)
            return
        # Looking at it costs time, also where nothing of it is shown.
        self._room -= min(len(output), _LOOKED_AT) + OVERHEAD
        shown = harmless(output, LINE_CHARACTERS, self._keys)
        if len(output) > _LOOKED_AT:
            self._keys.pass_over(output[_LOOKED_AT - _OVERLAP :])
        if shown:
            self._say_what_is_missing()
            self._write("\n".join(map(_as_its_own, shown.split("\n"))))

    @property
    def in_a_key(self) -> bool:
        """Whether the last line that it was told is one of a private key, but for its end."""
        return self._keys.inside

    def note(self, words: str) -> None:
        """Say something of ours about the output, once."""
        if words not in self._notes and self._left > 0:
            self._notes.add(words)
            self._write(f"{_OURS}{words}]")

    def finish(self) -> None:
        """Say what is still to be said, when the agent has ended."""
        if self._left > 0:
            self._say_what_is_missing()

    def _has_room(self) -> bool:
        """Once something had to be left out, there is room again for a second's worth."""
        now = self._clock()
        self._room = min(AT_ONCE, self._room + (now - self._filled) * PER_SECOND)
        self._filled = now
        return self._room >= (PER_SECOND if self._out_lines else 0)

    def _say_what_is_missing(self) -> None:
        if self._out_lines:
            lines, size = self._out_lines, self._out_bytes
            self._out_lines = self._out_bytes = 0
            out = f"{count(lines, 'line')} of {count(size, 'character')}"
            are = "is" if lines == 1 else "are"
            self._write(f"{_OURS}{out} {are} left out here: more than {PER_SECOND} a second]")

    def _write(self, words: str) -> None:
        data = f"{words}\n".encode()
        self._left -= len(data) + OVERHEAD * data.count(b"\n")
        if self._left <= 0:
            data = f"{_OURS}no more is shown: the limit is {TOTAL} bytes]\n".encode()
        try:
            os.write(self._file, data)
        except OSError as error:  # the volume is full: nothing else depends on what is shown
            self._left = 0
            log.event("output-not-shown", message=str(error))


def _as_its_own(row: str) -> str:
    """A line of the agent; one that looks as if we had said it is marked as the agent's."""
    return f"> {row}" if _LIKE_OURS.match(unicodedata.normalize("NFKC", row[:64])) else row
