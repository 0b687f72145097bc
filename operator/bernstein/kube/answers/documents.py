"""Documents of the API, read without their ``managedFields``.

Who has set which field is nobody's business here, anybody who may write an object may write it as
he likes, and it is the one part of an object that no schema bounds: 1.4 MB of names take 20 MB once
they are parsed, and what is deeper than the parser goes would keep everything beside it from being
read. So its lists are emptied in the bytes. What an object says of pods has metadata, too, and may
hold such a list anywhere: all of them are emptied; nothing else has a list of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

AS_IT_IS = 64 * 2**10
"""Bytes of a document that is parsed as it is, if it can be."""
AT_ONCE = 2 * 2**20
"""Bytes of a list that is parsed at once: 2 MB may take 30 MB. Of a longer one each item alone."""


def _list_named(name: bytes) -> re.Pattern[bytes]:
    """Where a list of this name begins. Inside of a string a quote has a backslash before it, and
    outside of one there is no backslash."""
    return re.compile(rb'(?<!\\)"' + name + rb'"[ \t\n\r]*:[ \t\n\r]*\[')


_MANAGED_FIELDS = _list_named(b"managedFields")
_ITEMS = _list_named(b"items")
_BRACKETS = re.compile(
    rb'[^][{}"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^][{}"]*+(?:\{\}[^][{}"]*+)?+)*+'
    rb'(?:([\[{]++)|([\]}]++)|"|\Z)',
    re.DOTALL,
)
"""Up to the next brackets that all open or all close something. Strings are stepped over, as are
empty objects that follow one, of which managedFields are made. A string that is not closed, and the
end, are no brackets: behind them nothing is looked for."""
_BETWEEN_ITEMS = re.compile(rb"[ \t\n\r,]*+")


class Items:
    """The items of a list in its bytes, each unparsed; and what is around them, known when they are
    all out. Raises ValueError where one does not end."""

    def __init__(self, raw: bytes) -> None:
        found = _ITEMS.search(raw)
        if found is None:
            raise ValueError("there are no items")
        self._raw = raw
        self._start = self._at = found.end()

    def __iter__(self) -> Iterator[bytes]:
        raw = self._raw
        while True:
            blanks = _BETWEEN_ITEMS.match(raw, self._at)
            self._at = start = self._at if blanks is None else blanks.end()
            if raw[start : start + 1] != b"{":
                return  # the end of the list, or no item: then the frame is no JSON
            self._at = _end(raw, start)
            yield raw[start : self._at]

    @property
    def frame(self) -> bytes:
        """The list without its items."""
        return self._raw[: self._start] + self._raw[self._at :]


def loads(raw: bytes) -> Any:
    """Raises ValueError where that is no JSON, or is deeper than the parser goes."""
    if len(raw) <= AS_IT_IS:
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            pass  # it may be for what is left out
    return orjson.loads(without_managed_fields(raw))


def without_managed_fields(raw: bytes) -> bytes:
    """The same document with all lists of that name empty; in linear time."""
    kept, at = [], 0
    view = memoryview(raw)
    while found := _MANAGED_FIELDS.search(raw, at):
        kept.append(view[at : found.end()])
        at = _end(raw, found.end() - 1) - 1
    return b"".join((*kept, view[at:])) if kept else raw


def _end(raw: bytes, start: int) -> int:
    """Behind the bracket that closes the one at ``start``."""
    depth = 0
    for found in _BRACKETS.finditer(raw, start):
        begin, end = found.span(2)
        if found.lastindex is None:
            break
        if begin < 0:
            depth += found.end() - found.start(1)
        elif depth <= end - begin:
            return begin + depth
        else:
            depth -= end - begin
    raise ValueError("a bracket is not closed")
