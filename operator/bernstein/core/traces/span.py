"""A span, and the ids that it has: always the same for the same part of the same object."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from bernstein.core import sanitise

TRACE_BYTES, SPAN_BYTES = 16, 8
MOST_CHARACTERS = 200
"""Of a name and of an attribute: all are names and single words, but people choose some of them."""

DELETED = "Deleted"
"""Why something ended badly that was deleted before its own end."""

Value: TypeAlias = str | bool | int | float | tuple[str, ...]
Kind: TypeAlias = Literal["Internal", "Client"]


@dataclass(frozen=True, slots=True)
class Span:
    """A part that has ended. `end` is never before `start`; both have a time zone."""

    trace_id: bytes
    """16 bytes."""
    span_id: bytes
    """8 bytes."""
    parent_id: bytes | None
    """Of the same trace; None: it is the root."""
    name: str
    start: datetime
    end: datetime
    attributes: tuple[tuple[str, Value], ...] = ()
    error: str | None = None
    """Why it ended badly, in one word; None: it did not."""
    kind: Kind = "Internal"


def trace_id(root: str) -> bytes:
    """`root`: the uid of a Plan, or of a Task that was applied alone."""
    return _digest(("trace", root), TRACE_BYTES)


def span_id(uid: str, *what: object) -> bytes:
    """Of a part of the object with this uid; of the object itself without `what`."""
    return _digest(("span", uid, *map(str, what)), SPAN_BYTES)


def _digest(parts: Iterable[str], length: int) -> bytes:
    found = hashlib.sha256("\0".join(parts).encode()).digest()[:length]
    return found if any(found) else b"\1" * length  # OpenTelemetry takes zeros for none


def span(
    *,
    trace: bytes,
    of: bytes,
    parent: bytes | None,
    name: str,
    start: datetime,
    end: datetime,
    attributes: Mapping[str, Value | None],
    error: str | None = None,
    kind: Kind = "Internal",
) -> Span:
    """The span; attributes that are None or empty are left out. Where clocks of several machines
    have it end before it begins, it takes no time."""
    shown = ((key, _shown(value)) for key, value in attributes.items() if value is not None)
    return Span(
        trace_id=trace,
        span_id=of,
        parent_id=parent,
        name=_line(name),
        start=start,
        end=max(start, end),
        attributes=tuple((key, value) for key, value in shown if value not in ("", ())),
        error=_line(error) if error else None,
        kind=kind,
    )


def _shown(value: Value) -> Value:
    if isinstance(value, str):
        return _line(value)
    return tuple(map(_line, value)) if isinstance(value, tuple) else value


def _line(text: str) -> str:
    return sanitise.line(text, MOST_CHARACTERS)
