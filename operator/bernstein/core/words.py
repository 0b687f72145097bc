"""Words of messages that depend on a number."""

from __future__ import annotations


def count(number: int, what: str) -> str:
    """`1 Task`, `2 Tasks`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
