"""Program `land`: pushes the verified commit to its branch, and reads the remote to prove it.

The Job may be run again after any crash, so the remote alone decides: a tip that contains the
commit is Landed, whoever pushed it; any other tip is Moved, and nothing is pushed. Where nobody
knows whether an earlier Job has pushed, it only looks.
"""

from __future__ import annotations

from pathlib import Path

from bernstein.api.programs.merge import LandConfig, LandResult
from bernstein.api.reasons import Reason
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError, full_ref
from bernstein.pods.git.merge import is_ancestor

CONFIG = LandConfig


def run(config: LandConfig) -> LandResult:
    """Push, if the branch is where it is expected, and say where it is now.

    Raises PodError when the commit is not the verified one, or the server refuses it.
    """
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    expect = config.expect
    if expect is not None and expect != config.sha and _tip(repository, config.onto) == expect:
        _verify(repository, config, expect)
        _push(repository, config, expect)
    result = _look(repository, config)
    log.event("land", state=result.state, tip=result.tip, sha=config.sha)
    return result


def _tip(repository: Git, onto: str) -> str:
    tip = repository.read_ref(onto)
    if tip is None:
        raise PodError(
            Reason.REF_NOT_FOUND, f"the repository has no {onto}: was the branch deleted?"
        )
    return tip


def _verify(repository: Git, config: LandConfig, expect: str) -> None:
    """Raise PodError unless the ref is at the commit with the verified tree, on the expected
    tip."""
    ref, sha = full_ref(config.ref), config.sha
    repository.fetch([f"{ref}:{ref}"])
    repository.expect_at(config.ref, sha)
    tree = repository.tree_id(sha)
    if tree != config.tree:
        message = f"{sha} holds the tree {tree}, verified was {config.tree}"
        raise PodError(Reason.TREE_MISMATCH, message)
    if not repository.has_commit(expect) or not is_ancestor(repository, expect, sha):
        message = f"{sha} does not stand on {expect}: prepare it again"
        raise PodError(Reason.NOT_ON_BASE, message)


def _push(repository: Git, config: LandConfig, expect: str) -> None:
    try:
        repository.push(config.onto, config.sha, expect)
    except GitError as error:
        # The server may have taken the push although its answer was lost; and that somebody else
        # pushed first is no failure.
        log.event("push-failed", reason=error.reason, message=error.message)
        if error.reason != Reason.REF_MOVED and _look(repository, config).state != "Landed":
            raise


def _look(repository: Git, config: LandConfig) -> LandResult:
    """Where the branch is now, and whether it contains the commit."""
    tip = _tip(repository, config.onto)
    landed = tip == config.sha or _contains(repository, config, tip)
    return LandResult("Landed" if landed else "Moved", tip)


def _contains(repository: Git, config: LandConfig, tip: str) -> bool:
    onto = full_ref(config.onto)
    repository.fetch([f"{onto}:refs/seen"])
    known = repository.has_commit(tip) and repository.has_commit(config.sha)
    return known and is_ancestor(repository, config.sha, tip)
