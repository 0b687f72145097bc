"""JSON as `json.loads` gives it, from whoever answers: looked at before it is used."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


MOST_VALUES = 300_000
"""Of one text: more than the longest answer that is meant has, and as many as memory is there for,
of which one takes up to some 200 bytes, however short it is written."""


class NoJsonError(Exception):
    """The text is no JSON, or has more than MOST_VALUES."""


def parse(data: bytes) -> Any:
    """Raises NoJsonError."""
    if _is_crowded(data):
        raise NoJsonError
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise NoJsonError from None


def _is_crowded(data: bytes) -> bool:
    """Seen before it is parsed; what stands within texts counts for nothing."""
    if _values(data) <= MOST_VALUES:
        return False
    outside = data.replace(rb"\\", b"").replace(rb"\"", b"")
    if outside.count(b'"') > 4 * MOST_VALUES:
        return True
    return sum(map(_values, outside.split(b'"')[::2])) > MOST_VALUES


def _values(data: bytes) -> int:
    return sum(map(data.count, (b"{", b"[", b",")))


def mapping(value: Any) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
