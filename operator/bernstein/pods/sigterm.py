"""SIGTERM, by which the kubelet ends the programs that run beside an agent."""

from __future__ import annotations

import os
import signal
import threading


def block() -> None:
    """Block SIGTERM until `awaited` is called: one that comes before must not kill the program,
    which still has the last state of the work to save."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def awaited() -> threading.Event:
    """An event that is set when SIGTERM comes, or has come since `block`.

    A thread sets it. The signal's handler runs wherever the main thread is, which may be inside
    the event and hold its lock: setting the event there would wait for that lock for ever.
    """
    ended = threading.Event()
    reader, writer = os.pipe()

    def tell() -> None:
        os.read(reader, 1)
        ended.set()

    block()  # in that thread, too: the main thread handles signals
    threading.Thread(target=tell, name="sigterm", daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: os.write(writer, b"\0"))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    return ended
