"""What a linter finds in two trees, compared: which findings are new?

A finding is known by its file, its rule and the content of its line, so that lines may move, and
files by `renames`. Where the same stands there more often than before, the last ones are new.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

MOST = 100_000
"""Findings of one tree."""
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


def listed(output: Iterable[bytes], root: str) -> Iterator[Finding]:
    """The findings in lines of JSON as ruff prints them, of a tree at `root`. Raises NoListing."""
    for number, text in enumerate(filter(None, map(bytes.strip, output))):
        if number >= MOST:
            raise NoListing(f"there are over {MOST} findings")
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


def new(
    before: Iterable[Finding],
    line_before: Line,
    after: Iterable[Finding],
    line_after: Line,
    renamed: Mapping[str, str] = _NONE,
) -> list[Finding]:
    """The findings of `after` that `before` does not have, in their order. `renamed`: the path that
    a file had before, by the one that it has now."""
    known = Counter(_identity(finding, line_before, _NONE) for finding in before)
    unknown = []
    for finding in after:
        identity = _identity(finding, line_after, renamed)
        if known[identity] > 0:
            known[identity] -= 1
        else:
            unknown.append(finding)
    return unknown


def _identity(finding: Finding, line: Line, renamed: Mapping[str, str]) -> tuple[str | bytes, ...]:
    path, other = (renamed.get(each, each) for each in (finding.path, finding.other))
    return path, other, finding.rule, line(finding.path, finding.line).strip()


def shown(rows: Sequence[object]) -> str:
    """The first of them, a line each, and how many more there are."""
    more = len(rows) - SHOWN
    return "\n".join([*map(str, rows[:SHOWN]), *([f"and {more} more"] if more > 0 else [])])
