"""Ends a computation that untrusted input has made slow (regular expressions that backtrack)."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

MATCH_SECONDS = 10.0
"""For the search of a pattern or a glob."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TimeoutError inside the block after `seconds`. Main thread only; does not nest.

    The `re` module looks for signals while it matches, so this also ends a single match.
    """

    def expire(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise TimeoutError(f"took over {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
