"""Merges in our own repositories: on trees and commits, with no worktree, merge driver or hook."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.programs.commit import CommitText
from bernstein.core import sanitise
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git
from bernstein.pods.git.errors import from_output

MOST_CONFLICTS = 20
"""Paths that are told; where there are as many, there may be more."""
_PATH_LENGTH = 150
_LOOKED_AT = 500
"""Of the commits of a branch, in which a change is looked for."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged tree, or the paths in conflict (sanitised, at most 20) and no tree."""

    tree: str
    conflicts: tuple[str, ...] = ()
    raw: tuple[bytes, ...] = ()
    """The same paths as they are."""
    marked: str = ""
    """A tree in which the files in conflict hold both sides, between marks."""


def merge_trees(repository: Git, ours: str, theirs: str, *, shows_base: bool = False) -> Merged:
    """Three-way merge of two commits over their merge base. `shows_base`: what that has stands
    between the marks, too.

    Raises GitError when git cannot merge them at all, as where they have no common ancestor.
    """
    flags = ["--write-tree", "-z", "--name-only", "--no-messages"]
    style = ["-c", "merge.conflictStyle=zdiff3"] if shows_base else []
    done = repository.complete(*style, "merge-tree", *flags, ours, theirs)
    if done.code not in {0, 1}:
        raise from_output(done.stderr, pushing=False)
    tree, *paths = done.stdout.rstrip(b"\0").split(b"\0")
    if done.code == 0:
        return Merged(tree.decode("ascii"))
    raw = tuple(paths[:MOST_CONFLICTS])
    shown = (sanitise.line(p.decode("utf-8", "replace"), _PATH_LENGTH) for p in raw)
    return Merged("", tuple(shown), raw, tree.decode("ascii"))


def is_ancestor(repository: Git, ancestor: str, commit: str) -> bool:
    """Whether `commit` is `ancestor` or contains it. Raises GitError when git cannot tell."""
    done = repository.complete("merge-base", "--is-ancestor", ancestor, commit)
    if done.code not in {0, 1}:
        raise from_output(done.stderr, pushing=False)
    return done.code == 0


def has_change(repository: Git, work: str, tip: str) -> bool:
    """Whether all that `work` changes was on the branch that is at `tip`, after one of its last
    commits: it is where merging `work` there changes nothing.

    That it was taken back since, or changed once more, does not count. Raises GitError.
    """
    if repository.complete("merge-base", work, tip).code != 0:
        return False
    most = f"--max-count={_LOOKED_AT}"
    listed = repository.text("rev-list", "--first-parent", most, tip, f"^{work}")
    for commit in listed.split():
        merged = merge_trees(repository, commit, work)
        if merged.tree and merged.tree == repository.tree_id(commit):
            return True
    return False


def commit_tree(repository: Git, tree: str, parents: list[str], text: CommitText, work: str) -> str:
    """A commit of `tree`; the same arguments give the same id, because no clock is read.

    The author date is that of the commit `work`; the committer date is the latest committer date of
    `parents` and `work`, so that it is never before a parent's.
    """
    committer, committer_email = text.committed_by
    if not all(name.strip(" <>\n") for name in (text.author, committer, text.message)):
        raise PodError("InvalidConfig", "the commit needs an author, a committer and a message")
    dates = [repository.text("show", "-s", "--format=%ct", each) for each in [*parents, work]]
    environment = {
        "GIT_AUTHOR_NAME": text.author,
        "GIT_AUTHOR_EMAIL": text.email,
        "GIT_AUTHOR_DATE": f"@{repository.text('show', '-s', '--format=%at', work)} +0000",
        "GIT_COMMITTER_NAME": committer,
        "GIT_COMMITTER_EMAIL": committer_email,
        "GIT_COMMITTER_DATE": f"@{max(map(int, dates))} +0000",
    }
    flags = [flag for parent in parents for flag in ("-p", parent)]
    message = text.message.encode("utf-8", "replace")
    made = repository.run("commit-tree", tree, *flags, "-F", "-", input=message, env=environment)
    return made.decode("ascii").strip()
