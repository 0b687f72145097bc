"""Phrases by which an agent says that it is not sure of its work.

They are looked for in the end of its last message, where the agent runs: nobody else ever sees more
of that message than its end, and nothing of it is matched in the operator.
"""

from __future__ import annotations

import re

CHARACTERS = 2000
"""Of the end of the last message, that are looked at."""

_I_AM = "I(?:'m| am)"
_PHRASES = {
    "not sure": rf"\b{_I_AM} not sure\b",
    "unsure": rf"\b{_I_AM} unsure\b",
    "cannot determine": r"\bcannot determine\b",
    "don't know how": r"\bI (?:don't|do not) know how\b",
    "beyond my": r"\bbeyond my\b",
    "lack the context": r"\black the context\b",
    "partial": r"\bpartial(?:ly)? (?:complete|implement(?:ed|ation))",
    "unable to complete": r"\bunable to (?:fully|completely)\b",
    "not fully confident": r"\bnot fully confident\b",
    "needs more": r"\bneed more (?:context|information)\b",
    "could not complete": r"\bcould not complete\b",
    "incomplete": r"\bincomplete implementation\b",
    "placeholder": r"\bleft as a placeholder\b",
    "escalate": r"\bTODO\b.{0,80}\bescalat",
}
"""What is told of each, in our words, and how it is found: on one line, in any case, with straight
apostrophes, and in no more than linear time."""
WORDS = tuple(_PHRASES)
"""All that may be told."""
_PATTERNS = {said: re.compile(text, re.IGNORECASE) for said, text in _PHRASES.items()}


def found(message: str) -> str:
    """Which phrase the end of a message has; the first one of the table, or ""."""
    line = " ".join(message[-CHARACTERS:].replace("\u2019", "'").split())
    return next((said for said, pattern in _PATTERNS.items() if pattern.search(line)), "")
