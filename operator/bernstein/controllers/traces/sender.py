"""Sends spans beside the reconciles: who offers one never waits, and a collector that is down costs
a bounded number of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable

from bernstein.controllers.traces.collector import Collector, Later, Refused, Taken
from bernstein.core.sanitise import line
from bernstein.core.traces.span import Span
from bernstein.kube.clock import REAL, Clock
from bernstein.observe import logging
from bernstein.observe.metrics import Metrics

log = logging.logger(__name__)

MOST_WAITING = 8192
"""Spans in memory, some kB each: those of some hundred Tasks. What comes beyond is dropped."""
MOST_AT_ONCE = 512
GATHER_SECONDS = 5.0
"""From the first span until it is sent with those that have come since."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds between tries; each pause is twice that before it."""
LONGEST_ASKED = 300.0
"""Seconds: a collector that asks for more is tried again then."""
PATIENCE = 600.0
"""Seconds until spans that nobody takes are dropped."""
LAST_SECONDS = 3.0
"""For what is left when the process ends."""


class Sender:
    """Only while `run` runs anything is sent."""

    def __init__(self, collector: Collector, metrics: Metrics, clock: Clock = REAL) -> None:
        self._collector = collector
        self._metrics = metrics
        self._clock = clock
        self._waiting: deque[Span] = deque()
        self._has_some = asyncio.Event()

    def offer(self, spans: Iterable[Span]) -> None:
        """Has them sent, but for those for which there is no room."""
        dropped = 0
        for span in spans:
            if len(self._waiting) < MOST_WAITING:
                self._waiting.append(span)
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
        """The first ones are taken, refused, or given up. They stay in line until then."""
        begun, pause = self._clock.monotonic(), FIRST_PAUSE
        while True:
            batch = self._first()
            answer = await self._collector.send(batch)
            if not isinstance(answer, Later):
                self._leave(batch, answer)
                return
            waits = pause * (0.5 + self._clock.jitter() / 2)
            if answer.after is not None:
                waits = max(waits, min(answer.after, LONGEST_ASKED))
            if self._clock.monotonic() - begun + waits > PATIENCE:
                log.warning("spans dropped", reason=answer.reason, spans=len(batch))
                self._leave(batch, None)
                return
            await self._clock.sleep(waits)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _last(self) -> None:
        while self._waiting:
            batch = self._first()
            answer = await self._collector.send(batch)
            if isinstance(answer, Later):
                return
            self._leave(batch, answer)

    def _first(self) -> list[Span]:
        return [self._waiting[n] for n in range(min(MOST_AT_ONCE, len(self._waiting)))]

    def _leave(self, batch: list[Span], answer: Taken | Refused | None) -> None:
        """`answer` None: they were given up."""
        for _ in batch:
            self._waiting.popleft()
        match answer:
            case None:
                self._metrics.spans("dropped", len(batch))
            case Refused(reason):
                self._metrics.spans("refused", len(batch))
                log.warning("spans refused", reason=reason, spans=len(batch))
            case Taken(refused, message):
                refused = min(max(refused, 0), len(batch))
                self._metrics.spans("sent", len(batch) - refused)
                self._metrics.spans("refused", refused)
                if refused or message:
                    log.warning("spans refused", reason=line(message, 300), spans=refused)
