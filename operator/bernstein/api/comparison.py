"""What the operator tells the program `compare`, as `bernstein.api.pod` has it for the others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """What a linter found in one tree."""

    tree: str
    """Folder that holds the tree here."""
    findings: str
    """File that the linter's output went to."""
    code: str
    """File with its exit code."""


@dataclass(frozen=True, slots=True)
class CompareConfig:
    """Tell what a linter finds in `head` and not in `base`; the result is a CheckVerdict."""

    name: str
    """Name of the check."""
    root: str
    """Folder that held the tree, the one or the other, where the linter ran."""
    head: Listing
    base: Listing
