"""Time and chance as the engine takes them, so that a test may bring its own."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

_SYSTEM = random.SystemRandom()


def _wall() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """A process's two clocks, its pauses, and its jitter.

    How long something takes is measured with ``monotonic``, in seconds. ``now`` is the time of day,
    which people and other machines understand; it may jump, in both directions.
    """

    monotonic: Callable[[], float] = time.monotonic
    now: Callable[[], datetime] = _wall
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = _SYSTEM.random
    """A number from 0 to 1, another one each time: keeps processes from acting all at once."""

    def timestamp(self) -> str:
        """The time of day as Kubernetes' MicroTime."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")


REAL = Clock()
