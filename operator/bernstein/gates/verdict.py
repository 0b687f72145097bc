"""What a check that only reads comes to."""

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
    """The check does not hold: something in the tree is to blame."""
    return Verdict("Failed", reason, excerpt)


def errored(reason: str, excerpt: str) -> Verdict:
    """The check could not be made; never taken for Passed."""
    return Verdict("Errored", reason, excerpt)
