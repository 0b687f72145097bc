"""How many lines a commit changes of which file, for people.

An agent has written the files and their names, so only so many are looked at, and not for long.
"""

from __future__ import annotations

import os

from bernstein.api.pod import ChangedFile
from bernstein.checks.changes import shown_path
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import patch, trees
from bernstein.pods.git.client import Git

MOST_FILES = 8
"""With paths of their greatest length they leave room for the rest of a termination message."""
_SECONDS = 10.0
_FLAGS = (
    *("-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative"),
    "--submodule=short",
)


def most_changed(repository: Git, base: str, head: str) -> tuple[ChangedFile, ...]:
    """The files with the most changed lines, then those whose lines nobody counts: too large, no
    text, a submodule. () where git cannot tell: nothing but what people are shown depends on it."""
    try:
        changes = trees.changed_paths(repository, base, head)
        text, others = patch.readable(repository, changes)
        counted = [
            ChangedFile(shown_path(path), *lines)
            for path, lines in _counts(repository, base, head, text).items()
        ]
    except PodError as error:
        log.event("no-line-counts", reason=error.reason, message=error.message)
        return ()
    counted.sort(key=lambda file: -((file.added or 0) + (file.deleted or 0)))
    uncounted = (ChangedFile(shown_path(path)) for path, _ in others[:MOST_FILES])
    return (*counted, *uncounted)[:MOST_FILES]


def _counts(
    repository: Git, base: str, head: str, paths: list[bytes]
) -> dict[bytes, tuple[int, int]]:
    """Lines that are new and lines that are gone, by path."""
    if not paths:
        return {}
    named = [os.fsdecode(path) for path in paths]
    flags = ("diff-tree", *_FLAGS, base, head, "--", *named)
    listing = repository.complete(*flags, env=trees.LITERAL, timeout=_SECONDS)
    if listing.code != 0:
        raise PodError("InternalError", "git could not count lines")
    rows = (row.split(b"\t", 2) for row in listing.stdout.split(b"\0") if row)
    return {path: (int(added), int(deleted)) for added, deleted, path in rows if added.isdigit()}
