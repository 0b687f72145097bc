"""Which lines of Python does a tree have that the one before it has not?

Told by `checkout`, before anything of either tree runs: what judges the change then cannot be told
another one.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

Ranges: TypeAlias = list[tuple[int, int]]
"""Numbers of lines, from 1: the first and the last of each that stand together."""
_FILE_BYTES = 20_000_000
MOST = 100_000
"""Ranges of all files."""


def new_lines(work: Path, base: Path) -> Mapping[str, Ranges] | None:
    """By the paths of files with new lines; None where there are too many.

    A line is known by its text, without the white space around it: in the same file, or for a new
    file in any that is gone. So lines may move, and files may get other names.
    """
    before, after = dict(_python_files(base)), dict(_python_files(work))
    gone = Counter[bytes]()
    for path in before.keys() - after.keys():
        gone.update(_lines(before[path]))
    found: dict[str, Ranges] = {}
    count = 0
    for path, file in after.items():
        known = Counter(_lines(before[path])) if path in before else gone
        ranges = _ranges(_unknown(file, known))
        count += len(ranges)
        if count > MOST:
            return None
        if ranges:
            found[path] = ranges
    return found


def _python_files(root: Path) -> Iterator[tuple[str, Path]]:
    """Without symlinks, in the order of their paths; those that are too long are passed over, as
    what nobody can have written."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            path = Path(folder, name)
            if not name.endswith(".py") or path.is_symlink() or not path.is_file():
                continue
            if path.stat().st_size <= _FILE_BYTES:
                yield str(path.relative_to(root)), path


def _lines(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        for line in opened:
            yield line.strip()


def _unknown(file: Path, known: Counter[bytes]) -> Iterator[int]:
    """Numbers of the lines that are not known, or more often than that; those are taken away."""
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
