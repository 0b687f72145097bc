"""A collector that answers as a test says, and a sender on a clock that jumps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from bernstein.controllers.traces.collector import Later, Refused, Taken
from bernstein.controllers.traces.sender import Sender
from bernstein.core.traces.span import Span, span, span_id, trace_id
from bernstein.kube.clock import Clock
from bernstein.observe.metrics import Metrics
from tests.unit.core.objects import NOW

Answer: TypeAlias = Taken | Later | Refused


def spans(many: int, first: int = 0) -> list[Span]:
    """Different ones."""
    return [
        span(
            trace=trace_id("plan"),
            of=span_id("plan", number),
            parent=span_id("plan"),
            name=f"part {number}",
            start=NOW,
            end=NOW,
            attributes={},
        )
        for number in range(first, first + many)
    ]


class Played:
    """Answers with each of these in turn, and then with the last one for ever."""

    def __init__(self, *answers: Answer, seconds: float = 0.0) -> None:
        self.sent: list[list[Span]] = []
        """Each request."""
        self.at: list[float] = []
        """When each came, in seconds from the start."""
        self._answers, self._seconds = list(answers or (Taken(),)), seconds
        self._begun = asyncio.get_running_loop().time()

    async def send(self, spans: Sequence[Span]) -> Answer:
        self.at.append(asyncio.get_running_loop().time() - self._begun)
        self.sent.append(list(spans))
        await asyncio.sleep(self._seconds)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class Sending:
    """A sender at work."""

    def __init__(self, collector: Played) -> None:
        self.metrics = Metrics(process=False)
        loop = asyncio.get_running_loop()
        clock = Clock(monotonic=loop.time, now=lambda: NOW, jitter=lambda: 1.0)
        self.sender = Sender(collector, self.metrics, clock)
        self.running = asyncio.ensure_future(self.sender.run())

    def counted(self, outcome: str) -> float:
        name, labels = "bernstein_trace_spans_total", {"outcome": outcome}
        return self.metrics.registry.get_sample_value(name, labels) or 0.0

    async def end(self) -> None:
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)
