"""Which files of the work are those of its base under another name?

As git finds out: by content. A file is another one's only where that one is gone: a copy is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Content = Callable[[str], bytes | None]
"""Content of a tree's file, by its path; None: there is no such file."""

MOST_FILES = 500
"""Of either tree that are compared by their lines; beyond, only the very same content is known."""
_MOST_LINES = 20_000
"""Of a file that is compared by its lines."""
_SIMILAR = 0.5
"""Part of the lines of the longer one that both have."""


@dataclass(frozen=True)
class _Print:
    """What is kept of a file to know it by."""

    digest: bytes
    lines: frozenset[int]
    """Hashes of its lines, without blanks at their ends; empty where there are too many."""


def renamed(
    before: Iterable[str], content_before: Content, after: Iterable[str], content_after: Content
) -> Mapping[str, str]:
    """The path that each file had before, by the path that it has now; without those that keep
    theirs. `before`, `after`: the paths that are of interest in either tree."""
    gone = _prints((path for path in before if content_after(path) is None), content_before)
    new = _prints((path for path in after if content_before(path) is None), content_after)
    names: dict[str, str] = {}
    for path, known in new.items():
        same = (old for old, of in gone.items() if of.digest == known.digest)
        old = min(same, key=lambda old: (_name(old) != _name(path), old), default=None)
        if old is not None:
            names[path] = old
            del gone[old]
    left = {path: known for path, known in new.items() if path not in names}
    if max(len(gone), len(left)) <= MOST_FILES:
        names |= _similar(gone, left)
    return names


def _prints(paths: Iterable[str], content: Content) -> dict[str, _Print]:
    contents = ((path, content(path)) for path in sorted({*paths}))
    return {path: _print(known) for path, known in contents if known is not None}


def _print(content: bytes) -> _Print:
    few = content.count(b"\n") <= _MOST_LINES
    lines = filter(None, map(bytes.strip, content.split(b"\n"))) if few else ()
    return _Print(hashlib.sha256(content).digest(), frozenset(map(hash, lines)))


def _similar(gone: Mapping[str, _Print], new: Mapping[str, _Print]) -> dict[str, str]:
    """The most similar ones first, and each path once."""
    pairs = [
        (part, _name(old) == _name(path), old, path)
        for old, before in gone.items()
        for path, after in new.items()
        if (part := _part(before.lines, after.lines)) >= _SIMILAR
    ]
    names: dict[str, str] = {}
    taken = set[str]()
    for _, _, old, path in sorted(pairs, reverse=True):
        if path not in names and old not in taken:
            names[path] = old
            taken.add(old)
    return names


def _part(one: frozenset[int], other: frozenset[int]) -> float:
    longer = max(len(one), len(other))
    if min(len(one), len(other)) < _SIMILAR * longer:
        return 0
    return len(one & other) / longer if longer else 0


def _name(path: str) -> str:
    return path.rpartition("/")[2]
