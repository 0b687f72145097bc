"""What keeps a release from being made."""

from __future__ import annotations


class ReleaseError(Exception):
    """`reason` is stable; the message says what is wrong, `remedy` what helps."""

    def __init__(self, reason: str, message: str, remedy: str) -> None:
        super().__init__(f"{reason}: {message}. Remedy: {remedy}")
        self.reason = reason
        self.remedy = remedy
