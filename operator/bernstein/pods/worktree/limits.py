"""What one look at a tree may take, and how it ends where that is not enough."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.reasons import Reason
from bernstein.core.sanitise import line
from bernstein.pods.errors import PodError

_NAME = 200
"""Characters of a path in a message."""


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """What one walk may take at most, whatever of the tree it takes."""

    names: int = 1_000_000
    """Of files and folders that are looked at, those that a rule ignores included."""
    rules: int = 20_000
    """Of all `.gitignore` files together."""
    rule_seconds: float = 10
    """CPU time to read and try these rules."""


class TreeTooLargeError(PodError):
    """The tree is over one of the limits."""

    def __init__(self, path: bytes, what: str, limit: int) -> None:
        """`path` is where the limit was met; `what` says of what, such as "its bytes are"."""
        shown = _shown(path)
        super().__init__(
            Reason.SNAPSHOT_TOO_LARGE,
            f"{shown}: {what} over the limit of {limit}; let .gitignore leave it out",
        )


class IgnoreRulesTooLargeError(TreeTooLargeError):
    """The `.gitignore` files themselves take too much."""

    def __init__(self, path: bytes, what: str) -> None:
        """`path` is the file or folder where the limit was met."""
        shown = _shown(path) or "."
        PodError.__init__(
            self,
            Reason.SNAPSHOT_TOO_LARGE,
            f"{shown}: of all .gitignore files, {what}; make them shorter",
        )


def _shown(path: bytes) -> str:
    """A name of the agent's making, for a message."""
    return line(path.decode("utf-8", "backslashreplace"), _NAME)
