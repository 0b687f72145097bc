"""Signal `llm_judge`: a model says that the change does all that the step asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bernstein.checks.asks import Asks
from bernstein.checks.signal import SignalKind, one_line

if TYPE_CHECKING:
    from bernstein.api.signals import Signal


def _detail(signal: Signal) -> str:
    return one_line(signal.criteria) or "the step is done"


def _sentence(signal: Signal) -> str:
    above_all = f", above all: {one_line(signal.criteria)}" if signal.criteria else ""
    return f"a judge finds that all of this step is done{above_all}"


SIGNAL = SignalKind(
    type="llm_judge",
    needs=(),
    takes=("criteria",),
    detail=_detail,
    sentence=_sentence,
    runs=Asks(prompt="llm_judge", form="judgement"),
)
