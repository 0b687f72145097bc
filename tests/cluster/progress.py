"""Progress for people on standard error; standard output stays for results."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_START = time.monotonic()


def say(text: str) -> None:
    """Print one line with the seconds since this process began."""
    print(f"[{time.monotonic() - _START:6.1f}s] {text}", file=sys.stderr, flush=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Announce a step, and its duration when it succeeded."""
    say(f"{what} ...")
    begin = time.monotonic()
    yield
    say(f"{what}: done in {time.monotonic() - begin:.1f} s")
