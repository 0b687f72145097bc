"""Program `begin`: the integration ref, at the tip of the target, unless it is there already."""

from __future__ import annotations

from pathlib import Path

from bernstein.api.pod import BeginConfig, BeginResult
from bernstein.pods import git, log
from bernstein.pods.errors import PodError
from bernstein.pods.git import Git, GitError, full_ref

CONFIG = BeginConfig


def run(config: BeginConfig) -> BeginResult:
    """Repeatable: whoever made the ref first decided where it starts."""
    git.init_bare(Path(config.git_dir))
    repository = Git(Path(config.git_dir), config.remote)
    existing = repository.read_ref(config.integration)
    if existing is None:
        existing = _make(repository, full_ref(config.target), config.integration)
    log.event("integration", ref=config.integration, sha=existing)
    return BeginResult(target_sha=existing, integration_sha=existing)


def _make(repository: Git, target: str, integration: str) -> str:
    repository.fetch([f"{target}:{target}"], depth=1)
    tip = repository.text("rev-parse", "--verify", f"{target}^{{commit}}")
    try:
        repository.push(integration, tip, None)
    except GitError as error:
        if error.reason != "RefMoved":
            raise
    made = repository.read_ref(integration)
    if made is None:
        raise PodError("PushRejected", f"the server took {integration} but does not show it")
    return made
