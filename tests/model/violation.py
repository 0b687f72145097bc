"""A rule that was broken, as it is printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    at: float
    what: str
    """Which rule, in a few words that stay the same."""
    text: str

    def __str__(self) -> str:
        return f"{self.at:.2f} s: {self.what}: {self.text}"
