"""Program `prepare`: the candidate, made on the current tip and pushed to its own ref."""

from __future__ import annotations

from pathlib import Path

from bernstein.api.pod import Changed, PrepareConfig, PrepareResult
from bernstein.pods import git, log, termination, trees
from bernstein.pods.errors import PodError
from bernstein.pods.git import Git, full_ref
from bernstein.pods.merging import Merged, commit_tree, is_ancestor, merge_trees

CONFIG = PrepareConfig


def run(config: PrepareConfig) -> PrepareResult:
    """A result whose `sha` is its `base` says that the tip holds everything already."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    tip = _fetch(repository, config)
    merged = _merge(repository, tip, config.sha)
    if merged.conflicts:
        log.event("conflict", base=tip, files=len(merged.conflicts))
        return _conflict(tip, merged.conflicts)
    sha = _commit(repository, config, tip, merged.tree)
    changed = trees.changed(repository, tip, sha)
    if sha != tip:
        repository.push(config.candidate, sha, repository.read_ref(config.candidate))
    log.event("prepared", base=tip, sha=sha)
    return PrepareResult(tip, sha, merged.tree, changed)


def _fetch(repository: Git, config: PrepareConfig) -> str:
    ref, onto = full_ref(config.ref), full_ref(config.onto)
    repository.fetch([f"{name}:{name}" for name in dict.fromkeys((ref, onto))])
    found = repository.text("rev-parse", "--verify", f"{ref}^{{commit}}")
    if found != config.sha:
        raise PodError("RefMoved", f"{config.ref} is at {found}, expected {config.sha}")
    return repository.text("rev-parse", "--verify", f"{onto}^{{commit}}")


def _merge(repository: Git, tip: str, sha: str) -> Merged:
    if is_ancestor(repository, sha, tip):
        return Merged(repository.text("rev-parse", "--verify", f"{tip}^{{tree}}"))
    return merge_trees(repository, tip, sha)


def _commit(repository: Git, config: PrepareConfig, tip: str, tree: str) -> str:
    if tree == repository.text("rev-parse", "--verify", f"{tip}^{{tree}}"):
        return tip
    parents = [tip, config.sha] if config.merge else [tip]
    return commit_tree(repository, tree, parents, config.commit, config.sha)


def _conflict(tip: str, paths: tuple[str, ...]) -> PrepareResult:
    while not termination.fits(result := PrepareResult(tip, "", "", Changed(), paths)):
        paths = paths[:-1]
    return result
