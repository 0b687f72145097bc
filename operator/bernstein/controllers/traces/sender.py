"""Sends spans beside the reconciles: who offers one never waits, and a collector that is down costs
a bounded number of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable
from itertools import islice

from bernstein.controllers.traces.collector import Collector, Later, Refused, Taken
from bernstein.core.sanitise import line
from bernstein.core.traces.span import Span
from bernstein.kube.clock import REAL, Clock
from bernstein.observe import logging
from bernstein.observe.metrics import Metrics

log = logging.logger(__name__)

MOST_WAITING = 8192
"""Spans in memory, with some kB of it each: those of some hundred Tasks. What comes beyond is
dropped."""
MOST_AT_ONCE = 512
GATHER_SECONDS = 5.0
"""From the first span until it is sent with those that have come since."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds between tries; each pause is twice that before it, until it says yes or no."""
LONGEST_ASKED = 300.0
"""Seconds: a collector that asks for more is tried again then."""
PATIENCE = 600.0
"""Seconds from when a span was offered until it is dropped, if nobody takes it."""
LAST_SECONDS = 0.8
"""For what is left when the process ends: only then the Lease is given back, for the next one."""


class Sender:
    """Only while `run` runs anything is sent."""

    def __init__(self, collector: Collector, metrics: Metrics, clock: Clock = REAL) -> None:
        self._collector = collector
        self._metrics = metrics
        self._clock = clock
        self._waiting: deque[tuple[float, Span]] = deque()
        """Each with when it was offered, by the clock's seconds; the oldest first."""
        self._pause = FIRST_PAUSE
        self._has_some = asyncio.Event()

    def offer(self, spans: Iterable[Span]) -> None:
        """Has them sent, but for those for which there is no room."""
        dropped, now = 0, self._clock.monotonic()
        for span in spans:
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append((now, span))
            else:
                dropped += 1
        self._metrics.spans("dropped", dropped)
        if self._waiting:
            self._has_some.set()

    async def run(self) -> None:
        """Until cancelled; then what is left is sent once, if that takes but a moment."""
        try:
            while True:
                await self._has_some.wait()
                await self._clock.sleep(GATHER_SECONDS)
                while self._waiting:
                    await self._deliver()
                self._has_some.clear()
        finally:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await self._last()

    async def _deliver(self) -> None:
        """The first ones are taken, refused, or tried again later. They stay in line until then;
        what has waited too long is dropped."""
        batch = self._first()
        answer = await self._collector.send(batch)
        if not isinstance(answer, Later):
            self._pause = FIRST_PAUSE
            self._leave(batch, answer)
            return
        waits = self._pause * (0.5 + self._clock.jitter() / 2)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        if answer.after is not None:
            waits = max(waits, min(answer.after, LONGEST_ASKED))
        self._give_up(self._clock.monotonic() + waits - PATIENCE, answer.reason)
        if self._waiting:
            await self._clock.sleep(waits)

    def _give_up(self, since: float, reason: str) -> None:
        """Drops what was offered before."""
        dropped = 0
        while self._waiting and self._waiting[0][0] < since:
            self._waiting.popleft()
            dropped += 1
        if dropped:
            self._metrics.spans("dropped", dropped)
            log.warning("spans dropped", reason=reason, spans=dropped)

    async def _last(self) -> None:
        while self._waiting:
            batch = self._first()
            answer = await self._collector.send(batch)
            if isinstance(answer, Later):
                return
            self._leave(batch, answer)

    def _first(self) -> list[Span]:
        return [span for _, span in islice(self._waiting, MOST_AT_ONCE)]

    def _leave(self, batch: list[Span], answer: Taken | Refused) -> None:
        for _ in batch:
            self._waiting.popleft()
        match answer:
            case Refused(reason):
                self._metrics.spans("refused", len(batch))
                log.warning("spans refused", reason=reason, spans=len(batch))
            case Taken(refused, message):
                refused = min(max(refused, 0), len(batch))
                self._metrics.spans("sent", len(batch) - refused)
                self._metrics.spans("refused", refused)
                if refused or message:
                    log.warning("spans refused", reason=line(message, 300), spans=refused)
