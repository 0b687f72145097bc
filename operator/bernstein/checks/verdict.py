"""The verdict of a check that only reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Passed, Failed, Skipped or Errored, with a CamelCase reason and a text for people."""

    verdict: str
    reason: str = ""
    excerpt: str = ""


def passed(excerpt: str = "") -> Verdict:
    """The check holds."""
    return Verdict("Passed", "", excerpt)


def failed(reason: str, excerpt: str) -> Verdict:
    """The check does not hold, because of something in the tree."""
    return Verdict("Failed", reason, excerpt)


def errored(reason: str, excerpt: str) -> Verdict:
    """The check could not be made; this never counts as passed."""
    return Verdict("Errored", reason, excerpt)
