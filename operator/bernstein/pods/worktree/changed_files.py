"""Lists the files of a worktree that formatters may change, before anything of it has run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bernstein.api.programs.formatting import CHANGED, SETTINGS
from bernstein.checks.globs import Listed
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git


def lay_out(
    repository: Git,
    base: str,
    sha: str,
    index: dict[str, str],
    only_new: Sequence[str],
    folder: Path,
) -> None:
    """Writes the list of files that `sha` adds or edits against `base`, and that of the paths where
    the `index` has pinned files in place of those of `sha`.

    Of the first are no symlinks, none of the second, of what `only_new` names no edited ones, and
    none whose name holds a line break: who reads the list would take that for two names.
    """
    flags = ["diff-index", "--cached", "-z", "--no-renames", "--name-only"]
    listing = repository.run(*flags, sha, "--", env=index)
    settings = {path for path in listing.split(b"\0") if path}
    there = trees.entries(repository, sha)
    listed = Listed(only_new)
    changed = (
        change.path
        for change in trees.changed_contents(repository, base, sha)
        if there[change.path].is_file
        and change.path not in settings
        and not (change.before and listed.holds(os.fsdecode(change.path)))
    )
    lines = [b"./%s\n" % path for path in changed if not {*b"\r\n"} & {*path}]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CHANGED).write_bytes(b"".join(lines))
    (folder / SETTINGS).write_bytes(b"".join(path + b"\0" for path in sorted(settings)))
