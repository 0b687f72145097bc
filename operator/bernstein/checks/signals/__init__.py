"""The types of completion signals: a file for each, and here the list of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bernstein.checks.reading import UNKNOWN
from bernstein.checks.signal import SignalKind
from bernstein.checks.signals import (
    api_responds,
    file_contains,
    glob_exists,
    llm_judge,
    llm_review,
    path_exists,
    test_passes,
)

if TYPE_CHECKING:
    from bernstein.api.signals import Signal

SIGNALS: tuple[SignalKind, ...] = (
    path_exists.SIGNAL,
    glob_exists.SIGNAL,
    file_contains.SIGNAL,
    test_passes.SIGNAL,
    api_responds.SIGNAL,
    llm_review.SIGNAL,
    llm_judge.SIGNAL,
)


def types() -> tuple[str, ...]:
    """The values that `type` may have, in the order in which messages and schemas list them."""
    return tuple(kind.type for kind in SIGNALS)


def of(type_: str) -> SignalKind:
    """The record of that type; for one that only a newer version knows, a record whose check is
    Errored."""
    return next((kind for kind in SIGNALS if kind.type == type_), _unknown(type_))


def _unknown(type_: str) -> SignalKind:
    def sentence(_signal: Signal) -> str:
        return f"the completion signal {type_} holds"

    def detail(_signal: Signal) -> str:
        return "this version of the operator does not know it"

    return SignalKind(type_, needs=(), detail=detail, sentence=sentence, runs=UNKNOWN)
