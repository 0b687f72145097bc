"""Both sides of a conflict, as git marks them in the files that it could not merge."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from bernstein.core import sanitise
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git
from bernstein.pods.git.merge import Merged

_AROUND = 2
"""Lines shown before and after a place in conflict."""
_LARGEST = 1 << 20
"""Bytes of a file that is looked into: beyond that its name has to do."""
_LINE = 120
_BEGIN, _MIDDLE, _END = b"<<<<<<< ", b"=======", b">>>>>>> "


def sides(
    repository: Git, merged: Merged, ours: str, theirs: str, *, lines: int, limit: int
) -> str:
    """The places in conflict of the files that `merged` names: at most `lines` of each side, and
    `limit` characters in all, sanitised.

    What one of the two commits has removed is said in words.
    """
    found, room = [], limit
    for raw, shown in zip(merged.raw, merged.conflicts, strict=True):
        if room <= 0:
            break
        text = f"{shown}:\n{_of(repository, merged.marked, raw, (ours, theirs), lines)}"
        found.append(sanitise.text(text, room))
        room -= len(found[-1]) + 1
    return "\n".join(found)


def _of(repository: Git, marked: str, path: bytes, both: tuple[str, str], most: int) -> str:
    for commit, whose in zip(both, ("what landed before", "this work"), strict=True):
        if _entry(repository, commit, path) is None:
            return f"({whose} has no such file)"
    entry = _entry(repository, marked, path)
    if entry is None or trees.sizes(repository, [entry])[entry] > _LARGEST:
        return "(too large, or no file)"
    lines = trees.blob(repository, entry).splitlines()
    return (
        "\n".join(_cut(line) for line in _places(lines, most)) or "(no lines of text in conflict)"
    )


def _entry(repository: Git, tree: str, path: bytes) -> str | None:
    """The blob at a path of a tree or commit; None where there is none."""
    named = f"{tree}:{os.fsdecode(path)}"
    found = repository.complete("rev-parse", "--verify", "--quiet", named)
    if found.code != 0:
        return None
    entry = found.stdout.decode("ascii").strip()
    is_blob = repository.complete("cat-file", "-t", entry).stdout == b"blob\n"
    return entry if is_blob else None


def _places(lines: list[bytes], most: int) -> Iterator[bytes]:
    """The marked lines with some around them; "..." where others are left out."""
    numbers = _around(lines, most)
    before = -1
    for number in sorted(numbers):
        if number > before + 1:
            yield b"..."
        yield lines[number]
        before = number


def _around(lines: list[bytes], most: int) -> set[int]:
    numbers: set[int] = set()
    for first, middle, last in _marked(lines):
        numbers.update(range(max(first - _AROUND, 0), first))
        numbers.update((*range(first, middle)[: most + 1], middle))
        numbers.update((*range(middle + 1, last)[:most], last))
        numbers.update(range(last + 1, min(last + _AROUND + 1, len(lines))))
    return numbers


def _marked(lines: Iterable[bytes]) -> Iterator[tuple[int, int, int]]:
    """First, middle and last mark of each place, as numbers of lines."""
    first = middle = None
    for number, line in enumerate(lines):
        if line.startswith(_BEGIN):
            first, middle = number, None
        elif first is not None and middle is None and line == _MIDDLE:
            middle = number
        elif first is not None and middle is not None and line.startswith(_END):
            yield first, middle, number
            first = middle = None


def _cut(line: bytes) -> str:
    return line[: _LINE * 4].decode("utf-8", "replace")[:_LINE]
