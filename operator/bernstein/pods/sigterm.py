"""SIGTERM, by which the kubelet ends the programs that run beside an agent."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import NoReturn

from bernstein.pods.errors import Terminated


def block() -> None:
    """Block SIGTERM until `awaited` is called: one that comes before must not kill the program,
    which still has the last state of the work to save."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def awaited(seconds: float | None = None) -> threading.Event:
    """An event that is set when SIGTERM comes, or has come since `block`.

    `seconds`: so long after that Terminated is raised in the main thread, whatever it waits for,
    until `in_time`.

    A thread sets it. The signal's handler runs wherever the main thread is, which may be inside
    the event and hold its lock: setting the event there would wait for that lock for ever.
    """
    ended = threading.Event()
    reader, writer = os.pipe()

    def tell() -> None:
        os.read(reader, 1)
        ended.set()

    def begin(_signal: int, _frame: FrameType | None) -> None:
        os.write(writer, b"\0")
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, seconds)

    block()  # in that thread, too: the main thread handles signals
    threading.Thread(target=tell, name="sigterm", daemon=True).start()
    signal.signal(signal.SIGALRM, _expire)
    signal.signal(signal.SIGTERM, begin)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return ended


def in_time() -> None:
    """What the time after SIGTERM was for is done."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def _expire(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise Terminated
