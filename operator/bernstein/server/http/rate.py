"""Token buckets, one per key."""

from __future__ import annotations

import time
from collections.abc import Callable

from bernstein.server.http.bounded import Recent


class RateLimit:
    """Allows `burst` calls of one key at once, and `per_second` calls on average.

    Only the `keys` keys that called last are remembered; a forgotten key starts with a full bucket.
    """

    def __init__(
        self,
        *,
        per_second: float,
        burst: int,
        keys: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: Recent[str, tuple[float, float]] = Recent(keys)

    def wait(self, key: str) -> float:
        """0 if the key may call now, which then counts; else the seconds until it may."""
        now = self._clock()
        left, then = self._buckets.get(key) or (float(self._burst), now)
        left = min(float(self._burst), left + (now - then) * self._per_second)
        if left < 1.0:
            self._buckets.put(key, (left, now))
            return (1.0 - left) / self._per_second
        self._buckets.put(key, (left - 1.0, now))
        return 0.0
