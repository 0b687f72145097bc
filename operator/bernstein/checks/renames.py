"""Which files of the work are those of its base under another name?

As git finds out: by content. A file is another one's only where that one is gone: a copy is new.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

Content = Callable[[str], bytes | None]
"""Content of a tree's file, by its path; None: there is no such file."""

MOST_FILES = 500
"""Of either tree that are compared by their lines; beyond, only the very same content is known."""
_MOST_LINES = 20_000
"""Of a file that is compared by its lines."""
MOST_LINES_OF_ALL = 500_000
"""Of the files of either tree that are compared by their lines; each takes some hundred bytes."""
_SIMILAR = 0.5
"""Part of the lines of the longer one that both have."""


Lines = Mapping[str, frozenset[int]]
"""Hashes of the lines of each file, without blanks at their ends; none where there are too many."""


def renamed(
    before: Iterable[str], content_before: Content, after: Iterable[str], content_after: Content
) -> Mapping[str, str]:
    """The path that each file had before, by the path that it has now; without those that keep
    theirs. `before`, `after`: the paths that are of interest in either tree."""
    gone = _digests((path for path in {*before} if content_after(path) is None), content_before)
    new = _digests((path for path in {*after} if content_before(path) is None), content_after)
    names = _same(gone, new)
    taken = {*names.values()}
    gone_left = [path for path in gone if path not in taken]
    new_left = [path for path in new if path not in names]
    if max(len(gone_left), len(new_left)) <= MOST_FILES:
        names |= similar(_lines(gone_left, content_before), _lines(new_left, content_after))
    return names


def _digests(paths: Iterable[str], content: Content) -> dict[str, bytes]:
    contents = ((path, content(path)) for path in sorted(paths))
    return {path: hashlib.sha256(text).digest() for path, text in contents if text is not None}


def _same(gone: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, str]:
    by_content: dict[bytes, list[str]] = {}
    for old, digest in gone.items():
        by_content.setdefault(digest, []).append(old)
    names: dict[str, str] = {}
    for path, digest in new.items():
        same = by_content.get(digest)
        if same:
            names[path] = min(same, key=lambda old: (_name(old) != _name(path), old))
            same.remove(names[path])
    return names


def _lines(paths: Iterable[str], content: Content) -> Lines:
    lines: dict[str, frozenset[int]] = {}
    left = MOST_LINES_OF_ALL
    for path in paths:
        text = content(path) or b""
        few = text.count(b"\n") <= min(_MOST_LINES, left)
        each = filter(None, map(bytes.strip, text.split(b"\n"))) if few else ()
        lines[path] = frozenset(map(hash, each))
        left -= len(lines[path])
    return lines


def similar(gone: Lines, new: Lines) -> dict[str, str]:
    """The one that each was before, by what it is now: the most similar first, and each once."""
    pairs = [
        (part, _name(old) == _name(path), old, path)
        for old, before in gone.items()
        for path, after in new.items()
        if (part := _part(before, after)) >= _SIMILAR
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
