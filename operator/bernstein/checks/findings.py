"""What a linter finds in two trees, compared: which findings are new?

A finding is known by its file, its rule and the content of its line, so that lines may move. Where
the same stands there more often than before, the last ones are new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeAlias

MOST = 100_000
"""Findings of one tree."""
MOST_LINE = 1_000_000
"""Bytes of a line that a tool prints: read, it takes many times its size."""
SHOWN = 20
_WORDS = 160
"""Characters of a finding's message."""

Line: TypeAlias = Callable[[str, int], bytes]
"""Content of a file's line, by path and number from 1."""


UNREADABLE = (
    *(ValueError, TypeError, KeyError, AttributeError),
    *(OverflowError, RecursionError),
)
"""What Python raises where JSON has another form than a tool's, or numbers that nothing holds."""


class NoListing(ValueError):  # noqa: N818 - it tells what was found instead
    """What was printed is no list of findings, or one of over MOST."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `line` counts from 1."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place} {self.rule} {self.message}".rstrip()


def lines_of(output: bytes) -> Iterator[bytes]:
    """Lines, without their ends. Raises NoListing."""
    for number, line in enumerate(BytesIO(output)):
        if number >= MOST:
            raise NoListing(f"there are over {MOST} findings")
        if len(line) > MOST_LINE:
            raise NoListing(f"line {number + 1} is over {MOST_LINE} bytes")
        yield line.removesuffix(b"\n")


def listed(output: Iterable[bytes], root: str) -> Iterator[Finding]:
    """The findings in lines of JSON as ruff prints them, of a tree at `root`. Raises NoListing."""
    for number, text in enumerate(filter(None, map(bytes.strip, output))):
        try:
            yield _finding(json.loads(text), root)
        except UNREADABLE as error:
            raise NoListing(f"line {number + 1} is no finding") from error


def _finding(told: Any, root: str) -> Finding:
    path = str(told["filename"]).removeprefix(root.rstrip("/") + "/")
    line = int((told.get("location") or {}).get("row") or 0)
    message = said(told.get("message") or "")
    return Finding(path, line, str(told.get("code") or "syntax"), message)


def said(message: object) -> str:
    """A finding's message on one line, as long as is shown."""
    return " ".join(str(message).split())[:_WORDS]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found in the work: how much, how much of it is new, and the first that is."""

    found: int
    new: int
    first: tuple[Finding, ...]


def compared(
    before: Iterable[Finding], line_before: Line, after: Iterable[Finding], line_after: Line
) -> Comparison:
    """Tells the findings of `after` that `before` does not have, in their order.

    No finding is kept but the first ones: there may be very many. Raises NoListing for over MOST.
    """
    known = Counter(_identity(finding, line_before) for finding in _bounded(before))
    found = new = 0
    first: list[Finding] = []
    for finding in _bounded(after):
        found += 1
        identity = _identity(finding, line_after)
        if known[identity] > 0:
            known[identity] -= 1
            continue
        new += 1
        if len(first) < SHOWN:
            first.append(finding)
    return Comparison(found, new, tuple(first))


def _bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    for number, finding in enumerate(findings):
        if number >= MOST:
            raise NoListing(f"there are over {MOST} findings")
        yield finding


def _identity(finding: Finding, line: Line) -> bytes:
    """Knows it again, in as many bytes whatever it says."""
    content = line(finding.path, finding.line).strip()
    text = repr((finding.path, finding.rule, content))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def shown(rows: Sequence[object], count: int | None = None) -> str:
    """The first of them, a line each, and how many more there are; `count`: of all."""
    more = (len(rows) if count is None else count) - SHOWN
    return "\n".join([*map(str, rows[:SHOWN]), *([f"and {more} more"] if more > 0 else [])])
