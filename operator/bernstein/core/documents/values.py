"""The JSON of what an agent leaves, as values whose number, depth and size are bounded."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

MOST_BYTES = 64 << 10
HALF_A_PAIR = "one of its texts has half of a surrogate pair, which is no character"
MOST_VALUES = 2_000
"""The keys of objects count, too."""
MOST_LEVELS = 20
"""Of lists and objects in each other; a text or a number by itself has none."""
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
"""Integers; what has a fraction or an exponent must be finite."""
_DIGITS = len(str(SMALLEST))
_OPENING, _CLOSING, _QUOTE, _ESCAPE = b"[{", b"]}", ord('"'), ord("\\")

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why it is not taken."""

    text: str
    """In our words, and none of the document's."""


class _RefusedError(ValueError):
    """Says why, in our words."""


def parsed(document: bytes) -> Json | Problem:
    """The value of the document. Whatever it is, no error is raised; in linear time."""
    try:
        return _value(document)
    except _RefusedError as refusal:
        return Problem(str(refusal))


def _value(document: bytes) -> Json:
    if len(document) > MOST_BYTES:
        raise _RefusedError(f"it has more than {MOST_BYTES} bytes")
    try:
        text = document.decode()
    except UnicodeDecodeError:
        raise _RefusedError("it is no UTF-8") from None
    if _levels(document) > MOST_LEVELS:
        raise _RefusedError(f"it has more than {MOST_LEVELS} levels of lists and objects")
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _RefusedError(f"it is no JSON ({place})") from None
    if sum(1 for _ in _each(value)) > MOST_VALUES:
        raise _RefusedError(f"it has more than {MOST_VALUES} values")
    for each in _each(value):
        if isinstance(each, str) and not _is_text(each):
            raise _RefusedError(HALF_A_PAIR)
    return value


def _levels(document: bytes) -> int:
    """How deep its brackets go, outside of texts; before anything is made of them."""
    depth = deepest = 0
    inside = escaped = False
    for byte in document:
        if inside:
            inside, escaped = escaped or byte != _QUOTE, not escaped and byte == _ESCAPE
        elif byte == _QUOTE:
            inside = True
        elif byte in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif byte in _CLOSING:
            depth -= 1
    return deepest


def _each(value: Json) -> Iterator[Json]:
    """The value, all that is in it, and the keys of its objects."""
    yield value
    if isinstance(value, list):
        for each in value:
            yield from _each(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _each(each)


def _is_text(value: str) -> bool:
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)


def _integer(digits: str) -> int:
    """Only so many digits are read: Python refuses thousands of them with an error of its own."""
    if len(digits) > _DIGITS or not SMALLEST <= int(digits) <= LARGEST:
        raise _RefusedError("one of its integers does not fit into 64 bits")
    return int(digits)


def is_finite(value: float) -> bool:
    """Whether it is a number, and JSON has it."""
    return math.isfinite(value)


def _fraction(digits: str) -> float:
    value = float(digits)
    if not is_finite(value):
        raise _RefusedError("one of its numbers is too large")
    return value


def _no_number(_: str) -> float:
    raise _RefusedError("it has a NaN or an Infinity, which is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _RefusedError("one of its objects has the same key twice")
    return made


_DECODER = json.JSONDecoder(
    parse_int=_integer,
    parse_float=_fraction,
    parse_constant=_no_number,
    object_pairs_hook=_object,
)
