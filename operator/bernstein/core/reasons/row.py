"""What a row of the table of reasons says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bernstein.api.waiting import WaitScope


class Retry(Enum):
    """When a failure is tried again; the values are the words of the page of errors."""

    AT_ONCE = "at once"
    BACK_OFF = "after min(30·2ⁿ, 300) s"
    SOON = "after 8 s, or when the Project changes"
    PROBE = "every 5 min, or when the Project changes"
    LATER = "when the provider, or the forge, says"
    UNBLOCKED = "when the Tasks that it names are Closed, or a person unblocks it"
    MERGE_ALONE = "the merge alone, every 5 min, or when the Project changes"
    NEVER = "never"


@dataclass(frozen=True)
class Policy:
    """What follows from a failure."""

    retry: Retry
    counts: bool
    """Costs one of the Task's attempts."""
    remedy: str
    capped: bool = False
    """Counts to the Task's cap of infrastructure failures."""
    holds: WaitScope = WaitScope.TASK
    """Which other Tasks wait while one tries whether it is mended: those that it is evidence
    about."""
    unconfirmed: bool = False
    """Only the session itself says so, or it may be about what this one Task brings, such as its
    prompt: no other Task waits until a second one has met the same."""
    passes: bool = False
    """Goes away by itself: a Plan in which all wait for such a thing still moves."""
    keeps_work: bool = False
    """Says nothing against the work so far: the next session goes on from there."""
    not_landed: bool = False
    """The land program reports it only after it has seen that nothing landed."""
    names_object: bool = False
    """The text quotes an object that a field of the Project names."""
