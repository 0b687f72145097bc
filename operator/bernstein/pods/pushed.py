"""What people have pushed to the branch of a pull request: whether it can be judged as work is.

An agent's work is one commit, whose size was looked at before it was pushed. Of other commits
nobody knows anything: what checks do not look at, or rely on, is refused here.
"""

from __future__ import annotations

import os

from bernstein.api.pod import TreeLimits
from bernstein.api.programs.merge import PushedConfig
from bernstein.core.sanitise import line
from bernstein.pods.git import trees
from bernstein.pods.git.client import Git

MOST_COMMITS = 500
MOST_OBJECTS = 20_000
"""Of those commits, without what is in the last one."""
LONGEST_PATH = 3900
"""Bytes; a longer one cannot be checked out."""
_PATH = 150
_UNSEEN = "its commits hold {} as it is in none that any check sees: make one commit of them"


def of_history(repository: Git, tip: str, sha: str, config: PushedConfig) -> str:
    """What is wrong with the commits up to `sha`, as a sentence without a full stop; "": nothing.

    Checks see the last of them alone, and all of them are delivered.
    """
    if repository.complete("merge-base", tip, sha).code != 0:
        return "it has no commit in common with the branch"
    known = [tip, *([config.verified] if repository.has_commit(config.verified) else ())]
    new = [sha, "--not", *known]
    commits = int(repository.text("rev-list", "--count", *new))
    if commits > MOST_COMMITS:
        return f"it brings {commits} commits, and {MOST_COMMITS} are looked through at most"
    hidden = ["--objects", "--no-object-names", *new, f"{sha}^{{tree}}"]
    objects = int(repository.text("rev-list", "--count", *hidden))
    if objects > MOST_OBJECTS:
        return (
            f"its commits bring {objects} objects that the files of the last one are not, and "
            f"{MOST_OBJECTS} are looked through at most: make one commit of them"
        )
    unseen = _unseen(repository, hidden)
    return _UNSEEN.format(_named(_path_of(repository, unseen, new))) if unseen is not None else ""


def _unseen(repository: Git, hidden: list[str]) -> str | None:
    """A content of a file, in whatever commit, that the last one does not have."""
    request = repository.run("rev-list", *hidden)
    kinds = repository.run("cat-file", "--batch-check=%(objectname) %(objecttype)", input=request)
    for row in kinds.decode("ascii").splitlines():
        object_id, _, kind = row.partition(" ")
        if kind == "blob":
            return object_id
    return None


def _path_of(repository: Git, object_id: str, new: list[str]) -> bytes:
    """Of all names that came with it, which may be of any length, only this one is read."""
    flags = ("--root", "-m", "-r", "--no-renames", "--format=", "--name-only", "-z", "-1")
    found = repository.run("log", *flags, f"--find-object={object_id}", *new)
    return found.strip(b"\0\n").partition(b"\0")[0] or object_id.encode("ascii")


def of_tree(repository: Git, tip: str, tree: str, limits: TreeLimits) -> str:
    """What is wrong with the tree that is to be delivered, in the same words."""
    changes = trees.changed_paths(repository, tip, tree)
    if len(changes) > limits.files:
        return f"it changes over {limits.files} files"
    linked = next((change.path for change in changes if change.modes[1] == b"160000"), None)
    if linked is not None:
        return f"it adds or changes a submodule, {_named(linked)}"
    long = next((c.path for c in changes if c.after and len(c.path) > LONGEST_PATH), None)
    if long is not None:
        return f"the path of {_named(long)} has over {LONGEST_PATH} bytes"
    deep = next((c.path for c in changes if c.path.count(b"/") >= limits.depth), None)
    if deep is not None:
        return f"{_named(deep)} lies in over {limits.depth} folders"
    sizes = trees.sizes(repository, [change.after for change in changes if change.after])
    large = next((c.path for c in changes if sizes.get(c.after, 0) > limits.file_bytes), None)
    if large is not None:
        return f"{_named(large)} has over {limits.file_bytes} bytes"
    if sum(sizes.values()) > limits.total_bytes:
        return f"its files have over {limits.total_bytes} bytes together"
    return ""


def _named(path: bytes) -> str:
    return f"'{line(os.fsdecode(path).encode('utf-8', 'replace').decode(), _PATH)}'"
