"""A work queue of keys: de-duplicating, with priorities, delays and per-key back-off."""

import asyncio
import heapq
from collections.abc import Hashable, Mapping
from enum import IntEnum
from itertools import count
from typing import Generic, TypeVar

from bernstein.kube.clock import REAL, Clock
from bernstein.kube.observer import NullObserver, Observer

K = TypeVar("K", bound=Hashable)


class Priority(IntEnum):
    """Lower runs first."""

    HIGH = 0  # deletion, cancel
    NORMAL = 1
    LOW = 2  # resync


class QueueClosed(Exception):  # noqa: N818 - a signal, not an error
    """No more keys will come."""


class WorkQueue(Generic[K]):
    """Hands out each key to one worker at a time.

    A key that is added while it waits is in the queue once, with the higher of the priorities. A
    key that is added while it runs comes again after ``done``. When a key is handed out its delayed
    add is dropped, because the run now sees what the delayed one would.
    """

    def __init__(
        self,
        name: str = "",
        *,
        clock: Clock = REAL,
        base: float = 0.005,
        cap: float = 1000.0,
        observer: Observer | None = None,
    ) -> None:
        self.name = name
        self._clock = clock
        self._base = base
        self._cap = cap
        self._observer: Observer = observer or NullObserver()
        self._order = count()
        # Heaps may hold outdated entries, as many as the dicts hold of those that count.
        self._ready_heap: list[tuple[float, int, K]] = []
        self._ready: dict[K, tuple[Priority, int, float]] = {}
        self._delayed_heap: list[tuple[float, int, K]] = []
        self._delayed: dict[K, tuple[float, int, Priority]] = {}
        self._running: dict[K, tuple[Priority, float]] = {}
        self._again: dict[K, Priority] = {}
        self._failures: dict[K, int] = {}
        self._arrived = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __len__(self) -> int:
        """Keys that are ready to run."""
        return len(self._ready)

    def add(self, key: K, priority: Priority = Priority.NORMAL) -> None:
        if self._closed:
            return
        if key in self._running:
            self._again[key] = min(priority, self._again.get(key, priority))
            return
        waiting = self._ready.get(key)
        if waiting is not None and waiting[0] <= priority:
            return
        order = next(self._order)
        since = waiting[2] if waiting is not None else self._clock.monotonic()
        self._ready[key] = (priority, order, since)
        heapq.heappush(self._ready_heap, (priority, order, key))
        _trim(self._ready_heap, self._ready)
        if waiting is None:
            self._observer.queue_added(self.name)
            self._observer.queue_depth(self.name, len(self._ready))
        self._arrived.set()

    def add_after(self, key: K, delay: float, priority: Priority = Priority.NORMAL) -> None:
        """Adds the key after ``delay`` seconds; of several delayed adds of a key the earliest
        counts."""
        if delay <= 0:
            self.add(key, priority)
            return
        if self._closed:
            return
        due = self._clock.monotonic() + delay
        waiting = self._delayed.get(key)
        if waiting is not None:
            priority = min(priority, waiting[2])
            if waiting[0] <= due:
                self._delayed[key] = (waiting[0], waiting[1], priority)
                return
        order = next(self._order)
        self._delayed[key] = (due, order, priority)
        heapq.heappush(self._delayed_heap, (due, order, key))
        _trim(self._delayed_heap, self._delayed)
        # Workers that wait must wake for the new earliest time.
        self._arrived.set()

    def retry(self, key: K, at_least: float = 0.0, priority: Priority = Priority.NORMAL) -> float:
        """Adds the key after its next back-off (base·2ⁿ seconds, at most ``cap``, and not less than
        ``at_least``); returns the delay."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay = min(self._base * 2.0 ** min(failures, 64), self._cap)
        delay = max(delay, at_least)
        self._observer.queue_retried(self.name)
        self.add_after(key, delay, priority)
        return delay

    def forget(self, key: K) -> None:
        """The key's run went well, so its back-off starts anew."""
        self._failures.pop(key, None)

    def priority_of(self, key: K) -> Priority:
        """The priority at which a key that runs was handed out."""
        return self._running[key][0]

    def poll(self) -> K | None:
        """The next key that may run now, which counts as running until ``done``."""
        self._promote()
        while self._ready_heap:
            _, order, key = heapq.heappop(self._ready_heap)
            entry = self._ready.get(key)
            if entry is None or entry[1] != order:
                continue
            del self._ready[key]
            self._delayed.pop(key, None)
            _trim(self._ready_heap, self._ready)
            _trim(self._delayed_heap, self._delayed)
            now = self._clock.monotonic()
            self._running[key] = (entry[0], now)
            self._observer.queue_depth(self.name, len(self._ready))
            self._observer.queue_started(self.name, now - entry[2])
            return key
        return None

    async def get(self) -> K:
        """Waits for the next key. Raises QueueClosed when no more will come."""
        while not self._closed:
            key = self.poll()
            if key is not None:
                return key
            self._arrived.clear()
            self._arm()
            await self._arrived.wait()
        raise QueueClosed

    def done(self, key: K) -> None:
        """The run of a key that ``get`` or ``poll`` gave has ended."""
        _, started = self._running.pop(key)
        self._observer.queue_finished(self.name, self._clock.monotonic() - started)
        priority = self._again.pop(key, None)
        if priority is not None:
            self.add(key, priority)

    def close(self) -> None:
        """From now on no key is handed out or accepted; those that run may still be ``done``."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._arrived.set()

    def _promote(self) -> None:
        now = self._clock.monotonic()
        while self._delayed_heap and self._delayed_heap[0][0] <= now:
            _, order, key = heapq.heappop(self._delayed_heap)
            entry = self._delayed.get(key)
            if entry is not None and entry[1] == order:
                del self._delayed[key]
                self.add(key, entry[2])
        _trim(self._delayed_heap, self._delayed)

    def _arm(self) -> None:
        """Wakes a worker when the earliest delayed key is due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._delayed_heap:
            wait = max(0.0, self._delayed_heap[0][0] - self._clock.monotonic())
            self._timer = asyncio.get_running_loop().call_later(wait, self._arrived.set)


def _trim(heap: list[tuple[float, int, K]], counts: Mapping[K, tuple[float, int, float]]) -> None:
    """Drops the outdated entries of a heap once they are more than those that count."""
    if len(heap) > 2 * len(counts):
        heap[:] = [
            entry for entry in heap if entry[2] in counts and counts[entry[2]][1] == entry[1]
        ]
        heapq.heapify(heap)
