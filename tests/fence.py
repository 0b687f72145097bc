"""The fence of a program of which any number may write at once, as tests do."""

from __future__ import annotations


class Unfenced:
    def check(self) -> float:
        return float("inf")
