"""How many workers of a controller may work for one namespace."""

from __future__ import annotations

from collections import Counter

from bernstein.kube.clock import Clock

SLOW_SECONDS = 5.0
"""What takes a worker as long makes its namespace a slow one."""
SLOW_FOR = 300.0
"""Seconds for which it counts as one since then."""


class Share:
    """All of them; half of them while it is slow, and there are others.

    How long the API server takes with an object is up to who wrote it: megabytes of metadata keep
    each write of its status busy until there is no more time. Others must find a worker meanwhile.
    """

    def __init__(self, workers: int, clock: Clock) -> None:
        self._half = max(1, workers // 2)
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._slow_until: dict[str, float] = {}
        self._seen = set[str]()
        """Some that there were, two at most: one alone has nobody to leave workers to."""

    def take(self, namespace: str) -> bool:
        """Takes a worker for it, which ``give_back`` gives back; or says that it has its share."""
        if len(self._seen) < 2:
            self._seen.add(namespace)
        is_slow = len(self._seen) > 1 and self._is_slow(namespace)
        if is_slow and self._running[namespace] >= self._half:
            return False
        self._running[namespace] += 1
        return True

    def give_back(self, namespace: str, seconds: float) -> None:
        """The worker took so long."""
        self._running[namespace] -= 1
        if not self._running[namespace]:
            del self._running[namespace]
        if seconds >= SLOW_SECONDS:
            self._slow_until[namespace] = self._clock.monotonic() + SLOW_FOR

    def _is_slow(self, namespace: str) -> bool:
        until = self._slow_until.get(namespace)
        if until is None:
            return False
        if until <= self._clock.monotonic():
            del self._slow_until[namespace]
            return False
        return True
