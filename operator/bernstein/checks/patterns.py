"""Whether a regular expression is one, found out in time linear in its length."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterable, Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_ASSERTIONS = (_parser.ASSERT, _parser.ASSERT_NOT)
_LOOK_BEHIND = "look-behind requires fixed-width pattern"


MOST_CHARACTERS = 30_000
"""Of all different patterns of a plan: a thousand nested groups take some milliseconds to parse."""


_PIECE = 2_000
"""Characters that are judged without a pause."""


class Judge:
    """Judges the patterns of one plan, as far as they have MOST_CHARACTERS together."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._characters = 0

    def problem(self, pattern: str) -> str | None:
        """What is wrong with the pattern; None: nothing, or the plan has too many."""
        if pattern not in self._known:
            self._known.add(pattern)
            self._characters += len(pattern)
        return problem(pattern) if self._characters <= MOST_CHARACTERS else None


def judged(texts: Iterable[str]) -> Iterator[None]:
    """Judges the patterns of one plan in pieces, so that what is wrong with them is known."""
    judge, characters = Judge(), 0
    for text in texts:
        judge.problem(text)
        characters += len(text)
        if characters > _PIECE:
            characters = 0
            yield


@functools.lru_cache(maxsize=4096)
def problem(pattern: str) -> str | None:
    """What is wrong with the pattern; None: nothing.

    It is parsed and not compiled: the compiler may take a second for a thousand characters, such as
    many `[\\0-\\U0010ffff]` behind `(?i)`. What only the compiler refuses, a look-behind without a
    fixed width, is asked of the parsed pattern.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = _parser.parse(pattern)
        if any(low != high for low, high in _look_behind_widths(parsed)):
            return _LOOK_BEHIND
    except (re.error, OverflowError) as error:
        return str(error)
    except RecursionError:
        return "its groups are nested too deep"
    return None


def _look_behind_widths(parsed: Any) -> Iterator[tuple[int, int]]:
    """The least and the greatest number of characters of every look-behind."""
    pending: list[Any] = [parsed]
    while pending:
        part = pending.pop()
        # By identity: the number of a group, or a character in a class, may be the same number.
        if isinstance(part, tuple) and any(part[0] is word for word in _ASSERTIONS if part):
            direction, inner = part[1]
            if direction < 0:
                yield inner.getwidth()
        if isinstance(part, tuple | list):
            pending += part
        elif isinstance(part, _parser.SubPattern):
            pending += part.data
