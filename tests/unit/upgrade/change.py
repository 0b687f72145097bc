"""What today's code decides otherwise than older code did, on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.unit.upgrade.differences import Difference, Pair


@dataclass(frozen=True)
class Change:
    why: str
    kind: str
    fields: tuple[str, ...]
    """Of the status, each with all that is below it."""
    is_meant: Callable[[Pair], bool]
    """Whether that is why this pair differs, and today's decision is as it should be."""

    def explains(self, pair: Pair, difference: Difference) -> bool:
        below = (f"{difference.path}.".startswith(f"{field}.") for field in self.fields)
        return pair.kind == self.kind and any(below) and self.is_meant(pair)


EVERYTHING = (
    "abandoned",
    "actions",
    "again",
    "attempt",
    "attempts",
    "conditions",
    "delivery",
    "endedAt",
    "feedback",
    "gateErrors",
    "history",
    "infrastructureFailures",
    "jobs",
    "outcome",
    "phase",
    "reports",
    "startedAt",
    "state",
    "usage",
    "verification",
    "waiting",
)
"""For changes after which a decision is another one as a whole."""
