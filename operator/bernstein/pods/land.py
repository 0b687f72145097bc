"""Program `land`: the verified commit onto its branch, once, proven by reading the remote.

The Job may be run again after any crash. What the remote shows decides: a tip that contains the
commit is Landed, whoever pushed it; a tip elsewhere is Moved, and nothing is pushed.
"""

from __future__ import annotations

from pathlib import Path

from bernstein.api.pod import LandConfig, LandResult
from bernstein.pods import git, log
from bernstein.pods.errors import PodError
from bernstein.pods.git import Git, GitError, full_ref
from bernstein.pods.merging import is_ancestor

CONFIG = LandConfig


def run(config: LandConfig) -> LandResult:
    """Raises PodError when the commit is not the verified one, or the server refuses it."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    if _tip(repository, config.onto) == config.expect and config.expect != config.sha:
        _verify(repository, config)
        _push(repository, config)
    result = _look(repository, config)
    log.event("land", state=result.state, tip=result.tip, sha=config.sha)
    return result


def _tip(repository: Git, onto: str) -> str:
    tip = repository.read_ref(onto)
    if tip is None:
        raise PodError("RefNotFound", f"the repository has no {onto}: was the branch deleted?")
    return tip


def _verify(repository: Git, config: LandConfig) -> None:
    ref = full_ref(config.ref)
    repository.fetch([f"{ref}:{ref}"])
    found = repository.text("rev-parse", "--verify", f"{ref}^{{commit}}")
    if found != config.sha:
        raise PodError("RefMoved", f"{config.ref} is at {found}, expected {config.sha}")
    tree = repository.text("rev-parse", "--verify", f"{found}^{{tree}}")
    if tree != config.tree:
        raise PodError("TreeMismatch", f"{found} holds the tree {tree}, verified was {config.tree}")
    known = repository.complete("cat-file", "-e", f"{config.expect}^{{commit}}").code == 0
    if not known or not is_ancestor(repository, config.expect, found):
        raise PodError("NotOnBase", f"{found} does not stand on {config.expect}: prepare it again")


def _push(repository: Git, config: LandConfig) -> None:
    try:
        repository.push(config.onto, config.sha, config.expect)
    except GitError as error:
        # The answer may be lost although the server took it, and a race is no failure.
        log.event("push-failed", reason=error.reason, message=error.message)
        if error.reason != "RefMoved" and _look(repository, config).state != "Landed":
            raise


def _look(repository: Git, config: LandConfig) -> LandResult:
    tip = _tip(repository, config.onto)
    landed = tip == config.sha or _contains(repository, config, tip)
    return LandResult("Landed" if landed else "Moved", tip)


def _contains(repository: Git, config: LandConfig, tip: str) -> bool:
    onto = full_ref(config.onto)
    repository.fetch([f"{onto}:refs/seen"])
    for name in (tip, config.sha):
        if repository.complete("cat-file", "-e", f"{name}^{{commit}}").code != 0:
            return False
    return is_ancestor(repository, config.sha, tip)
