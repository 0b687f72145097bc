"""Files that stand for a content which Git LFS stores elsewhere: told by their own form alone.

No attribute of the tree is asked: a filter or a server that it names is the work's to choose.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bernstein.pods import log

LARGEST = 1024
"""Bytes of a pointer: the format allows no more."""
_SMALLEST = 120
_ATTRIBUTES = 1 << 20
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n"
    rb"oid sha256:([0-9a-f]{64})\nsize (0|[1-9][0-9]{0,14})\n"
)
"""One with extensions is none of these: what it stands for has to be run through programs."""


@dataclass(frozen=True, slots=True)
class Content:
    oid: str
    """SHA-256, in hexadecimal."""
    size: int


def parse(data: bytes) -> Content | None:
    found = _POINTER.fullmatch(data)
    return Content(found[1].decode(), int(found[2])) if found is not None else None


def tell(trees: Iterable[Path]) -> None:
    """Says in the log how many files are pointers, where the tree says that it has some."""
    says = [tree for tree in trees if _uses_lfs(tree)]
    many = sum(1 for tree in says for _ in found_in(tree))
    if many:
        log.event("lfs", fetched=0, left=many, why="the Project does not ask for contents")


def _uses_lfs(tree: Path) -> bool:
    file = tree / ".gitattributes"
    return (
        file.is_file()
        and not file.is_symlink()
        and b"filter=lfs" in file.read_bytes()[:_ATTRIBUTES]
    )


def found_in(tree: Path) -> Iterator[tuple[Path, Content]]:
    """Every pointer in a tree that was written just now, in the order of the paths."""
    for folder, names, files in os.walk(tree):
        names[:] = sorted(name for name in names if name != ".git")
        for name in sorted(files):
            path = Path(folder, name)
            content = _read(path)
            if content is not None:
                yield path, content


def _read(path: Path) -> Content | None:
    told = path.lstat()
    if not stat.S_ISREG(told.st_mode) or not _SMALLEST <= told.st_size <= LARGEST:
        return None
    return parse(path.read_bytes())
