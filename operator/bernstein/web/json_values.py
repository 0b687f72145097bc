"""JSON as `json.loads` gives it, from whoever answers: looked at before it is used."""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]


class NoJsonError(Exception):
    """The text is no JSON."""


def parse(data: bytes) -> Any:
    """Raises NoJsonError."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise NoJsonError from None


def mapping(value: Any) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
