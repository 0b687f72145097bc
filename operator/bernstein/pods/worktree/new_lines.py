"""Which lines of Python does a tree have that the one before it has not?

Told by `checkout`, before anything of either tree runs: what judges the change then cannot be told
another one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TypeAlias

Ranges: TypeAlias = list[tuple[int, int]]
"""Numbers of lines, from 1: the first and the last of each that stand together."""
MOST = 100_000
"""Ranges of all files."""
_PATH_CHARACTERS = 100
"""Of a path that count as much as a range does."""
_FILE_BYTES = 1_000_000
"""A longer file is told by its first line alone, and none of its lines is known."""
_GONE = 300_000
"""Lines of files that are gone of which is known that they were there: each takes memory."""


def new_lines(work: Path, base: Path) -> Mapping[str, Ranges] | None:
    """By the paths of files with new lines; None where there are too many.

    A line is known by its text, without the white space around it: in the same file, or for a new
    file in any that is gone. So lines may move, and files may get other names.
    """
    before, after = dict(_python_files(base)), dict(_python_files(work))
    of_gone = (before[path] for path in sorted(before.keys() - after.keys()))
    gone = Counter(islice(chain.from_iterable(map(_lines, of_gone)), _GONE))
    found: dict[str, Ranges] = {}
    count = 0
    for path, file in after.items():
        known = Counter(_lines(before[path])) if path in before else gone
        ranges = _ranges(_unknown(file, known))
        count += len(ranges) and len(ranges) + len(path) // _PATH_CHARACTERS
        if count > MOST:
            return None
        if ranges:
            found[path] = ranges
    return found


def _python_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Without symlinks, in the order of their paths."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = Path(folder, name)
            if name.endswith(".py") and path.is_file() and not path.is_symlink():
                yield str(path.relative_to(root)), path


def _lines(file: Path) -> Iterator[bytes]:
    if file.stat().st_size > _FILE_BYTES:
        return
    with file.open("rb") as opened:
        for line in opened:
            yield line.strip()


def _unknown(file: Path, known: Counter[bytes]) -> Iterator[int]:
    """Numbers of the lines that are not known, or more often than that; those are taken away."""
    if file.stat().st_size > _FILE_BYTES:
        yield 1
    for number, line in enumerate(_lines(file), start=1):
        if known[line] > 0:
            known[line] -= 1
        elif line:
            yield number


def _ranges(numbers: Iterator[int]) -> Ranges:
    ranges: Ranges = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges
