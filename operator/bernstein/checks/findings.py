"""What a linter finds in two trees, compared: which findings are new?

A finding is known by its file, its rule and the content of its line, so that lines may move, and
files by `renames`. Where the same stands there more often than before, the last ones are new.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeAlias

MOST = 100_000
"""Findings of one tree."""
MOST_LINE = 1_000_000
"""Bytes of a line that a tool prints: read, it takes many times its size."""
MOST_PATHS = 16_000_000
"""Characters of the paths of all files with findings."""
SHOWN = 20
_WORDS = 160
"""Characters of a finding's message."""

Line: TypeAlias = Callable[[str, int], bytes]
"""Content of a file's line, by path and number from 1."""


_NONE: Mapping[str, str] = {}
UNREADABLE = (
    *(ValueError, TypeError, KeyError, AttributeError),
    *(OverflowError, RecursionError),
)
"""What Python raises where JSON has another form than a tool's, or numbers that nothing holds."""


class NoListing(ValueError):  # noqa: N818 - it tells what was found instead
    """What was printed is no list of findings, or one of over MOST."""


class Unanswered(Exception):  # noqa: N818 - it tells what was missing
    """The tool could not ask whom it has to ask: nothing is known of either tree."""

    def __init__(self, reason: str, message: str, said: str) -> None:
        """`message`: words of ours; `said`: the tool's, which may be those of the tree."""
        super().__init__(message)
        self.reason, self.message, self.said = reason, message, said


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding; `line` counts from 1."""

    path: str
    line: int
    rule: str
    message: str
    other: str = ""
    """Path of another file that it is about."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        rule = f"{self.rule} with {self.other}" if self.other else self.rule
        return f"{place} {rule} {self.message}".rstrip()


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


def _finding(row: Any, root: str) -> Finding:
    path = str(row["filename"]).removeprefix(root.rstrip("/") + "/")
    line = int((row.get("location") or {}).get("row") or 0)
    message = one_line(row.get("message") or "")
    return Finding(path, line, str(row.get("code") or "syntax"), message)


def one_line(message: object) -> str:
    """A finding's message on one line, as long as is shown."""
    return " ".join(str(message).split())[:_WORDS]


@dataclass(frozen=True, slots=True)
class Known:
    """What was found in the base."""

    counts: Mapping[bytes, int]
    """How often each finding stands there, by what it is known by."""
    paths: Collection[str]
    """The files that they are about."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found in the work: how much, how much of it is new, and the first that is."""

    found: int
    new: int
    first: tuple[Finding, ...]


def known(before: Iterable[Finding], line: Line) -> Known:
    """Knows the findings of the base. None is kept: there may be very many.

    Raises NoListing for over MOST, and MOST_PATHS.
    """
    paths = set[str]()
    noted = _noted(before, paths)
    return Known(Counter(_identity(finding, line, _NONE) for finding in noted), paths)


def compared(
    before: Known, after: Iterable[Finding], line: Line, renamed: Mapping[str, str] = _NONE
) -> Comparison:
    """Tells the findings of `after` that `before` does not have, in their order. `renamed`: the
    path that a file had before, by the one that it has now.

    No finding is kept but the first ones. Raises NoListing for over MOST.
    """
    left = Counter(before.counts)
    found = new = 0
    first: list[Finding] = []
    for finding in _bounded(after):
        found += 1
        identity = _identity(finding, line, renamed)
        if left[identity] > 0:
            left[identity] -= 1
            continue
        new += 1
        if len(first) < SHOWN:
            first.append(finding)
    return Comparison(found, new, tuple(first))


def paths_of(found: Iterable[Finding]) -> Collection[str]:
    """The files that they are about. Raises NoListing for over MOST findings, and MOST_PATHS."""
    paths = set[str]()
    for _ in _noted(found, paths):
        pass
    return paths


def _noted(found: Iterable[Finding], paths: set[str]) -> Iterator[Finding]:
    """The same findings; the files that they are about are added to the paths."""
    characters = 0
    for finding in _bounded(found):
        for path in {finding.path, finding.other} - paths - {""}:
            paths.add(path)
            characters += len(path)
        if characters > MOST_PATHS:
            raise NoListing(f"the names of its files have over {MOST_PATHS} characters")
        yield finding


def _bounded(findings: Iterable[Finding]) -> Iterator[Finding]:
    for number, finding in enumerate(findings):
        if number >= MOST:
            raise NoListing(f"there are over {MOST} findings")
        yield finding


def _identity(finding: Finding, line: Line, renamed: Mapping[str, str]) -> bytes:
    """Knows it again, in as many bytes whatever it says."""
    path, other = (renamed.get(each, each) for each in (finding.path, finding.other))
    content = line(finding.path, finding.line).strip()
    text = repr((path, other, finding.rule, content))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def shown(rows: Sequence[object], count: int | None = None) -> str:
    """The first of them, a line each, and how many more there are; `count`: of all."""
    more = (len(rows) if count is None else count) - SHOWN
    return "\n".join([*map(str, rows[:SHOWN]), *([f"and {more} more"] if more > 0 else [])])
