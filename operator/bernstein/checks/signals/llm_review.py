"""Signal `llm_review`: a model says that the change meets criteria."""

from __future__ import annotations

from bernstein.checks.asks import Asks
from bernstein.checks.signal import SignalKind, one_line

SIGNAL = SignalKind(
    type="llm_review",
    needs=("criteria",),
    detail=lambda signal: one_line(signal.criteria),
    sentence=lambda signal: f"a reviewer finds that the change meets: {one_line(signal.criteria)}",
    runs=Asks(prompt="llm_review", form="review"),
)
