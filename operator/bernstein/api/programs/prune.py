"""What the operator and the program `prune` say to each other."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein import places
from bernstein.api.pod import Remote

DELETED, GONE, MOVED, REFUSED = "d", "g", "m", "r"
"""What became of a ref: it was deleted; it was not there; it is at another commit, and stays; the
git server did not delete it."""


@dataclass(frozen=True, slots=True)
class RefAt:
    """A ref, and the only commit at which it is deleted."""

    ref: str
    sha: str


@dataclass(frozen=True, slots=True)
class PruneConfig:
    """Delete these refs."""

    remote: Remote
    refs: tuple[RefAt, ...]
    git_dir: str = places.OWN_GIT


@dataclass(frozen=True, slots=True)
class PruneResult:
    """What the remote showed after the push."""

    outcomes: str
    """A letter for each ref, in their order."""
    reason: str = ""
    """Why some were refused, in one word; "": none was."""
    message: str = ""
    """The same for people."""
