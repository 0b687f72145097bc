"""What a model is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.pod import Usage


@dataclass(frozen=True, slots=True)
class Question:
    """One question; nothing is remembered between two."""

    system: str
    """Who the model is, and how it has to answer."""
    text: str
    max_tokens: int = 1024
    """That the answer may have, with what the model thinks before it."""
    temperature: float | None = 0.0
    """None: as the provider has it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    text: str
    """As the model gave it: to be parsed or sanitised, never shown as it is."""
    usage: Usage
    exact: bool = True
    """False: the provider told no usage that is possible, so that this is the most it can be."""
    temperature: float | None = None
    """That the model has accepted; some refuse any. None: the provider's own."""
