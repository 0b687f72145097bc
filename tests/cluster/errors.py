"""The one error that clusters raise: a stable reason, what happened, and what to do."""

from __future__ import annotations


class ClusterError(Exception):
    """Something about a test cluster went wrong.

    `reason` is CamelCase and stable; `message` says what happened in plain words; `remedy` says
    what a person can do about it.
    """

    def __init__(self, reason: str, message: str, remedy: str) -> None:
        super().__init__(reason, message, remedy)
        self.reason = reason
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}\n  remedy: {self.remedy}"
