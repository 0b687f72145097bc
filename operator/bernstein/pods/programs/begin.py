"""Program `begin`: makes the integration ref at the tip of the target, unless it exists."""

from __future__ import annotations

from pathlib import Path

from bernstein.api.pod import BeginConfig, BeginResult
from bernstein.api.reasons import Reason
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.git import client as git
from bernstein.pods.git.client import Git, GitError, full_ref

CONFIG = BeginConfig


def run(config: BeginConfig) -> BeginResult:
    """Where the integration ref is: a repeated run finds the ref of the first and leaves it."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    sha = repository.read_ref(config.integration)
    if sha is None:
        sha = _make(repository, full_ref(config.target), config.integration)
    log.event("integration", ref=config.integration, sha=sha)
    return BeginResult(sha, sha, config.integration)


def _make(repository: Git, target: str, integration: str) -> str:
    """Push the ref and return where it is; of several Jobs that do so at once, one wins."""
    repository.fetch([f"{target}:{target}"], depth=1)
    tip = repository.commit_id(target)
    try:
        repository.push(integration, tip, None)
    except GitError as error:
        if error.reason != Reason.REF_MOVED:
            raise
    made = repository.read_ref(integration)
    if made is None:
        raise PodError(Reason.PUSH_REJECTED, f"the server took {integration} but does not show it")
    return made
