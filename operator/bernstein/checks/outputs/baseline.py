"""What was found or measured in the base, as a word: it is kept for other work on the same base.

It is as much as a comparison needs, or nothing: what is too long is not cut.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

from bernstein.api import packed as words
from bernstein.checks.findings import Known
from bernstein.checks.measures import Measured

MOST_PACKED: Final = 2200
"""Characters of one that is packed: a termination message has room for it and a short verdict."""
MOST_BYTES: Final = 64_000
"""Of one that is not."""
_MOST_NUMBER = 2**53
_IDENTITY = 16
"""Bytes by which a finding is known."""

Baseline: TypeAlias = Known | Measured


def packed(base: Baseline) -> str | None:
    """None: it is too long."""
    match base:
        case Known(counts, names):
            told: Any = {"found": {identity.hex(): n for identity, n in counts.items()}}
        case Measured(measures, names):
            told = {"measured": dict(measures)}
    told |= {"names": sorted(names)}
    data = json.dumps(told, separators=(",", ":"), sort_keys=True).encode()
    word = words.packed(data) if len(data) <= MOST_BYTES else None
    return word if word is not None and len(word) <= MOST_PACKED else None


def unpacked(word: str, *, measured: bool) -> Baseline:
    """`measured`: whether it is to be measures; else findings. Raises ValueError for anything that
    `packed` has not made of such."""
    try:
        told = json.loads(words.unpacked(word, MOST_PACKED, MOST_BYTES))
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    kind = "measured" if measured else "found"
    if not isinstance(told, dict) or told.keys() != {kind, "names"}:
        raise ValueError(f"it is not what was {kind}")
    rows, names = told[kind], told["names"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("its names are none")
    if not isinstance(rows, dict) or not all(map(_is_number, rows.values())):
        raise ValueError("its numbers are none")
    if measured:
        return Measured(rows, frozenset(names))
    counts = {bytes.fromhex(identity): n for identity, n in rows.items()}
    if any(len(identity) != _IDENTITY for identity in counts):
        raise ValueError("it names no findings")
    if any(not isinstance(n, int) or n < 1 for n in counts.values()):
        raise ValueError("its counts are none")
    return Known(counts, frozenset(names))


def _is_number(value: object) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and -_MOST_NUMBER < value < _MOST_NUMBER  # type: ignore[operator]
