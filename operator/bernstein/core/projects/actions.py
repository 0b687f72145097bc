"""What decisions about a Project ask for: Jobs that look at its repositories, and keep them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from bernstein.api.encoding import fields_of
from bernstein.api.programs.cached import CachedPack
from bernstein.api.programs.forge import SeenPullRequest
from bernstein.api.project import Probe
from bernstein.api.projects.cache import CacheState
from bernstein.api.projects.closing import RequestClosing
from bernstein.api.projects.refs import RefPruning, RefToDelete
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.checks.spec import DIGEST
from bernstein.core.actions import Decision, DeleteJobs


@dataclass(frozen=True)
class RunWatch:
    """A Job that watches pull requests until one of them changes."""

    job: str
    pull_requests: tuple[SeenPullRequest, ...]
    generation: int
    """Of the Project: it says where the forge is."""
    once: bool = False
    """It ends after one look at all: nobody could look before."""

    @property
    def asked(self) -> str:
        """A digest of what it has been told, behind the generation."""
        told = [fields_of(each) for each in self.pull_requests]
        text = json.dumps([told, self.once])
        return f"{self.generation}-{hashlib.sha256(text.encode()).hexdigest()[:DIGEST]}"

    def asks_where(self, asked: str | None) -> bool:
        """Whether a Job that was asked so looks at the same forge."""
        return asked is not None and asked.partition("-")[0] == str(self.generation)


@dataclass(frozen=True)
class RunPrune:
    """A Job that deletes refs, each only where it was left."""

    job: str
    refs: tuple[RefToDelete, ...]

    @property
    def asked(self) -> str:
        """A digest of what it deletes."""
        text = json.dumps([[each.ref, each.sha] for each in self.refs])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


@dataclass(frozen=True)
class RunWithdraw:
    """A Job that closes the pull request of what was deleted, where it is open."""

    job: str
    number: int
    """Of the pull request; 0: nobody knows it."""
    head: str
    base: str
    comment: str
    """What is said there."""

    @property
    def asked(self) -> str:
        """A digest of what it closes."""
        text = json.dumps([self.number, self.head, self.base])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


@dataclass(frozen=True)
class RunCache:
    """A Job that keeps what the branch's tip needs on the claim's volume."""

    job: str
    claim: str
    folder: str
    url: str
    branch: str
    has: CachedPack | None = None
    """What is told to checkouts now."""

    @property
    def asked(self) -> str:
        """A digest of what it is to keep, and where."""
        has = self.has.pack.sha256 if self.has is not None else ""
        text = json.dumps([self.claim, self.folder, self.url, self.branch, has])
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]


@dataclass(frozen=True)
class RunProbe:
    """A Job that tries the credentials of a Project."""

    job: str
    asked: str
    """Which generation of the Project it tries."""


ProbeAction = RunProbe | DeleteJobs
WatchAction = RunWatch | DeleteJobs
PruneAction = RunPrune | DeleteJobs
WithdrawAction = RunWithdraw | DeleteJobs
CacheAction = RunCache | DeleteJobs
ProbeDecision = Decision[Probe | None, ProbeAction]
WatchDecision = Decision[PullRequestWatch | None, WatchAction]
PruneDecision = Decision[RefPruning | None, PruneAction]
WithdrawDecision = Decision[RequestClosing | None, WithdrawAction]
CacheDecision = Decision[CacheState | None, CacheAction]
