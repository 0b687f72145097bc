"""How many lines a commit changes of which file, for people.

An agent has written the files and their names, so only so many are looked at, and not for long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bernstein.api import encoding
from bernstein.api.pod import ChangedFile
from bernstein.checks.changes import is_test, shown_path
from bernstein.checks.content import settings_files
from bernstein.checks.weakening.weakened import (
    is_looked_at,
    says_which,
    support_of,
    weakened,
)
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import patch, trees
from bernstein.pods.git.client import Git

MOST_FILES = 8
MOST_BYTES = 800
"""Of them, in JSON: they leave room for the rest of a termination message."""
UNKNOWN = "(git could not tell)"
"""In place of a path."""
_SECONDS = 10.0
_CONFIGURED_SECONDS = 5.0
"""In which configurations are read; each takes a few at most."""
_FLAGS = (
    *("-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative"),
    "--submodule=short",
)


@dataclass(frozen=True, slots=True)
class Lines:
    """What people are told of a change."""

    most: tuple[ChangedFile, ...] = ()
    """The files with the most changed lines, then those whose lines nobody counts: too large, no
    text, a submodule."""
    weakened: str = ""
    """A test that existed and is weakened, by lines that it has lost or by a mark to skip it, with
    what was taken from it; else the file of one that has lost lines, or that nobody could count;
    "": none."""
    configured: str = ""
    """A file that configures checks, and does so otherwise than before; "": none."""

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of the same meaning of Changed."""
        return {"most": self.most, "weakened": self.weakened, "configured": self.configured}


def look(repository: Git, base: str, head: str) -> Lines:
    """Where git cannot tell, no file is named, and tests count as weakened."""
    try:
        changes = trees.changed_paths(repository, base, head)
        text, others = patch.readable(repository, changes)
        counts = _counts(repository, base, head, text)
        configured = _configured(repository, changes)
    except PodError as error:
        log.event("no-line-counts", reason=error.reason, message=error.message)
        return Lines(weakened=UNKNOWN, configured=UNKNOWN)
    counted = [ChangedFile(shown_path(path), *lines) for path, lines in counts.items()]
    counted.sort(key=lambda file: -((file.added or 0) + (file.deleted or 0)))
    uncounted = (ChangedFile(shown_path(path)) for path, _ in others[:MOST_FILES])
    suspect = (c.path for c in changes if c.before and is_test(c.path) and _loses(c.path, counts))
    taken = _weakened(repository, head, changes, {*text}) or next(suspect, None)
    most = _first(*counted, *uncounted)
    return Lines(most, "" if taken is None else shown_path(taken), shown_path(configured))


def _configured(repository: Git, changes: Sequence[trees.PathChange]) -> str:
    """A file by which checks are configured otherwise than before, or the first for which there was
    no time; "": none."""
    named = [c for c in changes if settings_files.configures(os.fsdecode(c.path))]
    until = time.monotonic() + _CONFIGURED_SECONDS
    for change in named:
        path = os.fsdecode(change.path)
        if time.monotonic() > until:
            return path
        both = trees.both_contents(repository, [change], patch.MOST_BYTES)
        if change.is_submodule or both is None:
            return path
        before, after = (of.get(path, b"") for of in both)
        if settings_files.sets_something(path, before, after):
            return path
    return ""


def _weakened(
    repository: Git, head: str, changes: Sequence[trees.PathChange], readable: Collection[bytes]
) -> str | None:
    """A test that is weaker, whether it has all of its lines or not, with what was taken from it,
    or what decides how tests are run; None: there is none."""
    entries = {os.fsdecode(path): of for path, of in trees.entries(repository, head).items()}

    def content(path: str) -> bytes | None:
        entry = entries.get(path)
        small = entry is not None and entry.is_file and entry.size <= patch.MOST_BYTES
        return trees.blob(repository, entry.object_id) if entry is not None and small else None

    links = {os.fsdecode(c.path) for c in changes if c.is_link}
    support = support_of([os.fsdecode(c.path) for c in changes], entries, content, links)
    named = [(os.fsdecode(c.path), c) for c in changes]
    decide = ((path, c) for path, c in named if support.holds(path) or says_which(path))
    unread = next((path for path, c in decide if c.path not in readable), "")
    if unread:
        return unread
    tests = [c for p, c in named if c.path in readable and (is_looked_at(p) or support.holds(p))]
    both = trees.both_contents(repository, tests, patch.MOST_BYTES)
    found = weakened(*both, support) if both is not None else []
    return str(found[0]) if found else None


def _first(*files: ChangedFile) -> tuple[ChangedFile, ...]:
    """As many as there is room for."""
    most = files[:MOST_FILES]
    while len("".join(map(encoding.dump, most))) > MOST_BYTES:
        most = most[:-1]
    return most


def _loses(path: bytes, counts: Mapping[bytes, tuple[int, int]]) -> bool:
    """Whether lines of it are gone, or nobody knows."""
    return path not in counts or counts[path][1] > 0


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
