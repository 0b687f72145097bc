"""A tool's output that is JSON: one document, or one of each call of the tool."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bernstein.checks.findings import UNREADABLE, NoListing

MOST_BYTES = 32_000_000
MOST_MEMORY = 256_000_000
"""Bytes that it may take once it is read: up to seventy times its size, for `{"":0},`."""
_BYTES = ((b"{", 200), (b"[", 72), (b",", 44), (b":", 40), (b'"', 28))
"""What a value takes, by a character that it cannot do without."""
_SPACE = re.compile(r"[ \t\r\n]*")


def document(output: bytes) -> dict[str, Any]:
    """The object that the output is. Raises NoListing."""
    found = documents(output)
    if len(found) != 1:
        raise NoListing("it is no document of JSON")
    return found[0]


def documents(output: bytes) -> list[dict[str, Any]]:
    """The objects that the output is, one behind another: of a tool that is called several times.

    Raises NoListing.
    """
    if len(output) > MOST_BYTES:
        raise NoListing(f"it is over {MOST_BYTES} bytes")
    if _memory(output) > MOST_MEMORY:
        raise NoListing("it has too many values")
    try:
        parsed = list(_parsed(output.decode()))
    except (ValueError, RecursionError) as error:
        raise NoListing("it is no document of JSON") from error
    if not all(isinstance(each, dict) for each in parsed):
        raise NoListing("it is no object of JSON")
    return parsed


def _memory(output: bytes) -> int:
    """Bytes that its values take at most."""
    wide = 1 if output.isascii() else 4
    texts = 4 if b"\\u" in output else wide
    return (wide + texts) * len(output) + sum(output.count(c) * each for c, each in _BYTES)


def _parsed(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    start = _begin(text, 0)
    while start < len(text):
        found, end = decoder.raw_decode(text, start)
        yield found
        start = _begin(text, end)


def _begin(text: str, start: int) -> int:
    """Where what is no white space begins."""
    space = _SPACE.match(text, start)
    return space.end() if space else start


@contextmanager
def report_of(tool: str) -> Iterator[None]:
    """Whatever cannot be read within is no report of the tool: NoListing."""
    try:
        yield
    except NoListing:
        raise
    except UNREADABLE as error:
        raise NoListing(f"it is no report of {tool}") from error


def relative(path: object, root: str) -> str:
    """The path from the folder in which the tool ran."""
    return str(path).removeprefix(root.rstrip("/") + "/").removeprefix("./")
