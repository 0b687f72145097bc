"""A collector in memory."""

from __future__ import annotations

from collections.abc import Sequence

from bernstein.controllers.traces.collector import Taken
from bernstein.core.traces.span import Span, trace_id


class Collected:
    """Knows all that it was sent."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    async def send(self, spans: Sequence[Span]) -> Taken:
        self.spans += spans
        return Taken()

    def of(self, root: str) -> dict[bytes, Span]:
        """The trace, by the ids of its spans, as they were sent last."""
        return {span.span_id: span for span in self.spans if span.trace_id == trace_id(root)}

    def names(self) -> list[str]:
        """In the order in which they came."""
        return [span.name for span in self.spans]
