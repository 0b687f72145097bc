"""The mark that tells a prompt's own words from the data in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count

_TRIES = 8

Draw = Callable[[], str]
"""Gives another random word, of at least 16 hexadecimals, each time."""


def mark(texts: Iterable[str], draw: Draw) -> str:
    """A word that none of the texts contains.

    One that they contain is replaced by another. After a few, a number is added that grows, so that
    this ends even where nothing random is drawn: each is another word then, and of such a length a
    text has fewer than it has characters.
    """
    everything = [*texts]
    found = draw()
    for number in count(-_TRIES):
        if not any(found in text for text in everything):
            break
        found = draw() if number < 0 else f"{draw()}{number:08x}"
    return found


def begin(word: str, title: str) -> str:
    """The line before data."""
    return f"----- {word} begin: {title} -----"


def end(word: str, title: str) -> str:
    """The line behind it."""
    return f"----- {word} end: {title} -----"
