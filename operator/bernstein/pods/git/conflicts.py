"""Whether work resolves a conflict between two commits, and does nothing else."""

from __future__ import annotations

import os

from bernstein.api.programs.merge import ResolvesConfig
from bernstein.api.reasons import Reason
from bernstein.core import sanitise
from bernstein.pods.errors import PodError
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git, full_ref
from bernstein.pods.git.merge import MOST_CONFLICTS, is_ancestor, merge_trees

_PATH_LENGTH = 150


def unresolved(repository: Git, conflict: ResolvesConfig, tip: str, tree: str) -> tuple[str, ...]:
    """The paths (sanitised, at most 20) in which `tree` still has a mark of the conflict between
    the commit that is named and `tip`, or is not what git merges of them by itself.

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
    marks = tuple(
        f"{mark} {commit}".encode()
        for mark, commit in (("<<<<<<<", conflict.sha), (">>>>>>>", tip))
    )
    wrong = [path for path in changed if path not in own]
    wrong += [path for path in both.raw if _is_marked(repository, tree, path, marks)]
    shown = (sanitise.line(p.decode("utf-8", "replace"), _PATH_LENGTH) for p in wrong)
    return tuple(shown)[:MOST_CONFLICTS]


def _is_marked(repository: Git, tree: str, path: bytes, marks: tuple[bytes, ...]) -> bool:
    entry = trees.entry(repository, tree, os.fsdecode(path))
    if entry is None or not entry.is_file:
        return False
    lines = trees.blob(repository, entry.object_id).splitlines()
    return any(line.startswith(marks) for line in lines)
