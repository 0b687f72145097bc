"""Whether a conflict between two commits can be resolved where marks stand, and whether work does
that and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice

from bernstein.api.programs.merge import ResolvesConfig
from bernstein.api.reasons import Reason
from bernstein.core import sanitise
from bernstein.pods.errors import PodError
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git, full_ref
from bernstein.pods.git.merge import MOST_CONFLICTS, Merged, is_ancestor, merge_trees

_PATH_LENGTH = 150
_MOST_BYTES = 64 << 20
"""Of a file in which marks are looked for: what is larger is for people."""
_BETWEEN = (
    re.compile(rb"(?m)^[ \t]*={7}[ \t]*\r?$"),
    re.compile(rb"(?m)^[ \t]*\|{7}(?:[ \t\r]|$)"),
)
"""The marks that name no commit: a line like the first one may as well underline a heading."""


def unresolved(repository: Git, conflict: ResolvesConfig, tip: str, tree: str) -> tuple[str, ...]:
    """The paths (sanitised, at most 20) in which `tree` still has a mark of the conflict between
    the commit that is named and `tip`, or that git could not mark, or that are not what git merges
    by itself.

    Raises PodError where the branch does not hold that commit any more: who has taken it away must
    not get it back by a merge.
    """
    branch = full_ref(conflict.target)
    repository.fetch([f"{branch}:{branch}"])
    there = repository.has_commit(conflict.sha)
    if not there or not is_ancestor(repository, conflict.sha, branch):
        text = f"{conflict.target} does not hold {conflict.sha} any more"
        raise PodError(Reason.REF_MOVED, f"{text}: the conflict was with that")
    both = merge_trees(repository, conflict.sha, tip, shows_base=True)
    own = set(both.raw)
    changed = trees.paths_between(repository, both.marked or both.tree, tree)
    marks = _marks(conflict.sha, tip)
    wrong = [path for path in changed if path not in own]
    sides = (conflict.sha, tip)
    wrong += [path for path in both.raw if _is_left(repository, both, path, tree, sides, marks)]
    return _shown(wrong)


def _is_left(
    repository: Git,
    merged: Merged,
    path: bytes,
    tree: str,
    sides: tuple[str, str],
    marks: tuple[bytes, ...],
) -> bool:
    """Whether the conflict in this file is left, or none that marks show. `tree`: of the work.

    Each of its contents, which may be large, is read once, and goes before the next one comes.
    """
    work = _content(repository, tree, path)
    if work is None or any(mark in work for mark in marks):
        return True
    there, work = _lines_between(work), None
    marked = _content(repository, merged.marked, path)
    if marked is None or not _is_markable(marked, marks):
        return True
    if not any(there):
        return False
    # What both sides call otherwise is at this path only in what was merged.
    places = marked.count(marks[0])
    kept, marked = [lines - places for lines in _lines_between(marked)], None
    theirs = (_lines_between(_content(repository, side, path) or b"") for side in sides)
    return _has_more(there, kept, theirs)


def for_people(repository: Git, merged: Merged, ours: str, theirs: str) -> tuple[str, ...]:
    """The paths in conflict (sanitised) in which no marks stand: one side's file is there whole, or
    nothing is. Who leaves them as they are has chosen that side without having seen it, and no
    look at the tree tells that from a choice."""
    marks = _marks(ours, theirs)
    found = ((path, _content(repository, merged.marked, path)) for path in merged.raw)
    return _shown(path for path, content in found if not _is_markable(content, marks))


def _marks(ours: str, theirs: str) -> tuple[bytes, ...]:
    return f"<<<<<<< {ours}".encode(), f">>>>>>> {theirs}".encode()


def _shown(paths: Iterable[bytes]) -> tuple[str, ...]:
    shown = (sanitise.line(p.decode("utf-8", "replace"), _PATH_LENGTH) for p in paths)
    return tuple(islice(shown, MOST_CONFLICTS))


def _is_markable(marked: bytes | None, marks: tuple[bytes, ...]) -> bool:
    """Whether both sides stand between marks there. They do not in binary files, symbolic links and
    submodules, nor where one side has deleted it, or both have renamed it; and nobody has looked
    into what is too large (None).

    The marks name commits, so that nothing else has them, and one that was indented is as good as
    one that was left.
    """
    return marked is not None and all(mark in marked for mark in marks)


def _content(repository: Git, tree: str, path: bytes) -> bytes | None:
    """That of the file; none where it is no file. None: it is too large."""
    entry = trees.entry(repository, tree, os.fsdecode(path))
    if entry is None or not entry.is_file:
        return b""
    return trees.blob(repository, entry.object_id) if entry.size <= _MOST_BYTES else None


def _has_more(there: Iterable[int], kept: Iterable[int], sides: Iterable[Iterable[int]]) -> bool:
    """Whether the work has more lines like a mark between both sides than these have together: it
    may keep all of them. `kept`: how many of them git merges, beside its own marks."""
    most = (max(sum(lines), known) for *lines, known in zip(*sides, kept, strict=True))
    return any(left > bound for left, bound in zip(there, most, strict=True))


def _lines_between(content: bytes) -> tuple[int, ...]:
    """How many lines there are like each of the marks between."""
    return tuple(sum(1 for _ in mark.finditer(content)) for mark in _BETWEEN)
