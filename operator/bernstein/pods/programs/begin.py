"""Program `begin`: makes the integration ref at the tip of the target.

Whoever may push below refs/bernstein/ can make that ref first. So a Plan begins at the tip of the
target that this Job has read from the target itself, and at nothing else. Where an earlier Job of
the Plan may have pushed, without a word of it, the ref may be at an earlier tip: nothing stands on
that yet, and the ref is moved on. Anywhere else it is a surprise.
"""

from __future__ import annotations

from pathlib import Path

from bernstein.api.programs.merge import BeginConfig, BeginResult
from bernstein.api.reasons import Reason
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError, full_ref
from bernstein.pods.git.merge import is_ancestor
from bernstein.pods.git.remotes import address_of

CONFIG = BeginConfig


def run(config: BeginConfig) -> BeginResult:
    """Where the integration ref is. Raises PodError(IntegrationExists) where others made it."""
    git.init_bare(Path(config.git_dir))
    repository, target = Git(Path(config.git_dir), config.remote), full_ref(config.target)
    # Another repository may have nothing of it yet, and takes no history without its beginning.
    elsewhere = address_of(config.remote, config.integration) != config.remote.url
    repository.fetch([f"{target}:{target}"], depth=None if elsewhere else 1)
    tip = repository.commit_id(target)
    made = repository.read_ref(config.integration) or _make(repository, config.integration, tip)
    if made != tip:
        if not (config.again and _is_of_target(repository, target, made)):
            raise PodError(
                Reason.INTEGRATION_EXISTS,
                f"{config.integration} is at {made} already, where this Plan did not put it",
            )
        repository.push(config.integration, tip, made)
    log.event("integration", ref=config.integration, sha=tip)
    return BeginResult(tip, tip, config.integration)


def _make(repository: Git, integration: str, tip: str) -> str:
    """Push the ref and return where it is; of several Jobs that do so at once, one wins."""
    try:
        repository.push(integration, tip, None)
    except GitError as error:
        if error.reason != Reason.REF_MOVED:
            raise
    made = repository.read_ref(integration)
    if made is None:
        raise PodError(Reason.PUSH_REJECTED, f"the server took {integration} but does not show it")
    return made


def _is_of_target(repository: Git, target: str, sha: str) -> bool:
    """Whether the target's own history has the commit; nothing else is fetched."""
    repository.fetch([f"{target}:{target}"])
    return repository.has_commit(sha) and is_ancestor(repository, sha, target)
