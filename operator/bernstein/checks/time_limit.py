"""Ends a computation that untrusted input has made slow (regular expressions that backtrack)."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

MATCH_SECONDS = 10.0
"""For the search of a pattern or a glob."""


class TimeLimitError(Exception):
    """What ran was not done in time. It is no OSError, as TimeoutError is: it comes up wherever the
    block is, and who waits for a file or a program there would take it for their own."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimitError inside the block after `seconds`. Main thread only; does not nest.

    The `re` module looks for signals while it matches, so this also ends a single match.
    """

    def expire(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise TimeLimitError(f"took over {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
