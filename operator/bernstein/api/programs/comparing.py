"""What the program `compare` is told and says: what a tool has found in two trees."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.shares import COMPARISON


@dataclass(frozen=True, slots=True)
class Listing:
    """What a tool found in one tree, or measured."""

    tree: str
    """Folder that holds the tree here."""
    findings: str
    """File that the tool's output went to; "": it was not run."""
    code: str
    """File with its exit code."""


@dataclass(frozen=True, slots=True)
class CompareConfig:
    """Tell what a tool finds in `head` and not in `base`, or what is worse there; the result is
    Compared."""

    name: str
    """Name of the check."""
    root: str
    """Folder that held the tree, the one or the other, where the tool ran."""
    head: Listing
    base: Listing
    output: str = "ruff"
    """In which form the tool prints."""
    decides: bool = False
    """Nothing has judged the head yet: where the tool cannot run there, it says so."""
    tolerance: float | None = None
    """How much worse a measure may be; None: nothing is measured."""
    least: float | None = None
    """Which share of faults the tests have to notice; None: there are none."""
    known: str | None = None
    """What was found or measured in the base before, packed: the tool was not run there."""
    share: int = COMPARISON
    """Bytes that the result may take."""


@dataclass(frozen=True, slots=True)
class Compared(CheckVerdict):
    """The verdict, with what was found or measured in the base, to be kept."""

    base: str = ""
    """Packed; "": it was known, or is too much."""
