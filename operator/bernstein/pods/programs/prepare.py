"""Program `prepare`: makes the candidate on the current tip, and pushes it to its own ref."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bernstein.api.pod import Changed
from bernstein.api.programs.merge import PrepareConfig, PrepareResult
from bernstein.pods import log, pushed, termination
from bernstein.pods.git import client as git
from bernstein.pods.git import conflicts, line_counts, trees
from bernstein.pods.git.client import Git, full_ref
from bernstein.pods.git.merge import (
    MOST_CONFLICTS,
    Merged,
    commit_tree,
    is_ancestor,
    merge_trees,
)
from bernstein.pods.git.sides import sides

CONFIG = PrepareConfig
_SIDES = 2800
"""Characters of all places in conflict."""
_LINES = (10, 3, 1, 0)
"""Of each side: in JSON one character may take 12 bytes, and then fewer are tried."""


def run(config: PrepareConfig) -> PrepareResult:
    """The candidate, or the paths in conflict. Where its `sha` is its `base`, the tip holds all of
    the change already."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    tip = _fetch(repository, config)
    if config.pushed is not None:
        why = pushed.of_history(repository, tip, config.sha, config.pushed)
        if why:
            return _refused(tip, why)
    merged = _merge(repository, config, tip)
    if merged.conflicts:
        log.event("conflict", base=tip, files=len(merged.conflicts))
        return _conflict(repository, config, tip, merged)
    if config.pushed is not None:
        why = pushed.of_tree(repository, tip, merged.tree, config.pushed.limits)
        if why:
            return _refused(tip, why)
    if config.resolves is not None:
        left = conflicts.unresolved(repository, config.resolves, tip, merged.tree)
        if left:
            log.event("unresolved", base=tip, files=len(left))
            return PrepareResult(tip, "", "", Changed(), left)
    sha = _commit(repository, config, tip, merged.tree)
    changed = trees.changed(repository, tip, sha, config.protected)
    lines = line_counts.look(repository, tip, sha)
    changed = replace(changed, **lines.facts)
    if sha != tip:
        repository.push(config.candidate, sha, repository.read_ref(config.candidate))
    log.event("prepared", base=tip, sha=sha)
    return PrepareResult(tip, sha, merged.tree, changed)


def _refused(tip: str, why: str) -> PrepareResult:
    log.event("refused", base=tip, why=why)
    return PrepareResult(tip, "", "", Changed(), refused=why)


def _fetch(repository: Git, config: PrepareConfig) -> str:
    """Fetch the work and its target; returns the target's tip."""
    ref, onto = full_ref(config.ref), full_ref(config.onto)
    repository.fetch([f"{name}:{name}" for name in dict.fromkeys((ref, onto))])
    repository.expect_at(config.ref, config.sha)
    return repository.commit_id(onto)


def _merge(repository: Git, config: PrepareConfig, tip: str) -> Merged:
    if is_ancestor(repository, config.sha, tip):
        return Merged(repository.tree_id(tip))
    return merge_trees(repository, tip, config.sha, shows_base=config.marks is not None)


def _commit(repository: Git, config: PrepareConfig, tip: str, tree: str) -> str:
    if config.resolves is not None:
        parents = [tip, config.resolves.sha]
        return commit_tree(repository, tree, parents, config.commit, config.sha)
    if tree == repository.tree_id(tip):
        return tip
    as_it_is = config.pushed is not None and config.pushed.as_it_is
    if as_it_is and is_ancestor(repository, tip, config.sha):
        return config.sha
    parents = [tip, config.sha] if config.merge else [tip]
    return commit_tree(repository, tree, parents, config.commit, config.sha)


def _conflict(repository: Git, config: PrepareConfig, tip: str, merged: Merged) -> PrepareResult:
    """As many lines of both sides, and then of the paths, as the termination message can hold.

    With marks only the paths: nobody is told of the sides otherwise. Where one of the paths has
    none nothing is pushed, as people have to look at it.
    """
    paths, sha, people = merged.conflicts, config.sha, tuple[str, ...]()
    if config.marks is not None and len(paths) < MOST_CONFLICTS:
        people = conflicts.for_people(repository, merged, tip, sha)
        if not people:
            marked = commit_tree(repository, merged.marked, [sha], config.commit, sha)
            repository.push(config.marks, marked, repository.read_ref(config.marks))
            shown = tuple(path.encode() for path in paths)
            made = PrepareResult(tip, "", "", Changed(), paths, marked=marked)
            result = replace(made, altered=shown != merged.raw)
            if termination.fits(result):
                return result
    whole = PrepareResult(tip, "", "", Changed(), paths, for_people=people)
    for lines in _LINES:
        both = sides(repository, merged, tip, sha, lines=lines, limit=_SIDES)
        if termination.fits(result := replace(whole, sides=both)):
            return result
    while not termination.fits(whole):
        paths, people = whole.conflicts, whole.for_people
        if len(people) > 1:
            whole = replace(whole, for_people=people[:-1])
        else:
            whole = replace(whole, conflicts=paths[:-1])
    return whole
