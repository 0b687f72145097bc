"""How many rows stand in the tables that tests are run with, as in `parametrize` and `it.each`.

A table is counted where it is written as one: what has only its name in the call has no rows there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PARTS = re.compile(r"[(\[{]|[)\]}]|,")
_OF_A_CALL = re.compile(r"[\w)\]]")
"""Before a bracket: it holds what is called with, not rows."""


@dataclass(frozen=True)
class Table:
    """What a table looks like in a language."""

    call: re.Pattern[str]
    """Up to the bracket behind which its arguments begin."""
    argument: int
    """Which of the arguments the table is."""


def tables(table: Table, text: str) -> Iterator[tuple[int, int]]:
    """(where its call begins, its rows) of each table in a text without strings and comments."""
    at = 0
    while (call := table.call.search(text, at)) is not None:
        rows, at = _rows(text, call.end(), table.argument)
        yield call.start(), rows


def _rows(text: str, start: int, argument: int) -> tuple[int, int]:
    """Rows of the call whose arguments begin there, and where they end: each part of the text is
    read once, however calls lie within one another."""
    depth, place, rows, begun = 1, 0, 0, -1
    for part in _PARTS.finditer(text, start):
        if part[0] in "([{":
            depth += 1
            if depth == 2 and place == argument:
                begun = -1 if _OF_A_CALL.match(text, part.start() - 1) else part.end()
            continue
        if depth == 2 and begun >= 0:
            rows += bool(text[begun : part.start()].strip())
            begun = part.end() if part[0] == "," else -1
        if part[0] == ",":
            place += depth == 1
        else:
            depth -= 1
        if not depth:
            return rows, part.end()
    return rows, len(text)
