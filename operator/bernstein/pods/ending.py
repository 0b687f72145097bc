"""The end of programs that run until the kubelet ends them (SIGTERM)."""

from __future__ import annotations

import signal
import threading


def hold() -> None:
    """Keep an end that comes now until `awaited`: the last state must still be taken."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def awaited() -> threading.Event:
    """Set when the kubelet ends the container, also if it did so since `hold`."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return ended
