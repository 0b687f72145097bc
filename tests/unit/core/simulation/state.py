"""The state of a cluster in memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Self

from bernstein.api import pod as protocol
from bernstein.api.approvals.approval import Approval
from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.core import labels
from bernstein.core.actions import (
    RunBegin,
    RunCheck,
    RunFence,
    RunFormat,
    RunInspect,
    RunJudge,
    RunLand,
    RunPrepare,
)
from tests.unit.core import objects
from tests.unit.core.simulation.remote import Remote

EXAMPLES = int(os.environ.get("BERNSTEIN_EXAMPLES", "0"))
"""Set: so many runs, and other ones each time, to search for what the usual run does not meet."""

TARGET = "refs/heads/main"
TOKENS = protocol.Usage(input=100_000, output=20_000)
COST = Decimal("0.6")
"""Of TOKENS at the price of sonnet."""

Run = RunBegin | RunCheck | RunFormat | RunInspect | RunJudge | RunPrepare | RunLand | RunFence


@dataclass
class Job:
    """A Job with its pod, as the world plays it."""

    name: str
    uid: str
    owner: str
    wants: Run | AgentSession
    created: datetime
    pod: objects.Object | None = None
    base: str = ""
    """Tip that an agent's checkout found."""
    deleting: bool = False
    held: bool = False
    """The pod carries our finalizer."""
    repository: str = ""
    """Where it is at work, if not in the Project's first."""

    @property
    def role(self) -> str:
        return "agent" if isinstance(self.wants, AgentSession) else type(self.wants).__name__

    @property
    def task(self) -> str:
        """Of an agent's Job: whose attempt it is; the Task's uid."""
        assert isinstance(self.wants, AgentSession)
        return self.wants.spec.task_ref.uid

    @property
    def labels(self) -> dict[str, str]:
        asked = getattr(self.wants, "asked", None)
        where = {labels.REPOSITORY: self.repository} if self.repository else {}
        return {labels.JOB: self.main} | ({labels.ASKED: asked} if asked else {}) | where

    @property
    def main(self) -> str:
        """Its main container."""
        mains = {"agent": "agent", "RunCheck": "check", "RunInspect": "inspect"}
        return mains.get(self.role) or self.role.removeprefix("Run").lower()

    @property
    def phase(self) -> str:
        return str(self.pod["status"]["phase"]) if self.pod is not None else "None"

    @property
    def ended(self) -> bool:
        return self.phase in ("Succeeded", "Failed") or isinstance(self.wants, RunFence)

    @property
    def runs(self) -> bool:
        return self.phase == "Running"


@dataclass
class Seen:
    """What was observed while the world ran, for what must hold over time."""

    passed: set[tuple[str, str]] = field(default_factory=set)
    """(digest of a check, commit) that a pod judged good."""
    spent: Counter[str] = field(default_factory=Counter)
    """Agents of each Task (by uid) that ran to an end that reports usage."""
    recorded: int = 0
    """Sessions of the Plan whose end, with its usage, stands in their status."""
    landed: set[tuple[str, str]] = field(default_factory=set)
    """(ref, commit) that a land Job moved there."""
    landed_by: Counter[str] = field(default_factory=Counter)
    approved: set[tuple[str, str | None]] = field(default_factory=set)
    """(uid, commit) of what a person has said yes to; of a Plan without a commit."""
    writes: int = 0


class State:
    """What there is: objects as the API server stores them, Jobs with their pods, the remote."""

    def __init__(
        self, project: Project, plan: Plan | None = None, tasks: Sequence[Task] = ()
    ) -> None:
        self.now = objects.NOW
        self.project = project
        self.plan = plan
        self.tasks = {t.metadata.name: t for t in tasks}
        self.deleted: dict[str, Task] = {}
        """The last Task of each name that somebody has deleted."""
        self.sessions: dict[str, AgentSession] = {}
        self.jobs: dict[str, Job] = {}
        self.remote = Remote(TARGET)
        self.reports: set[str] = set()
        """Jobs whose checks' output was kept."""
        self.approvals: dict[str, Approval] = {}
        self.fates: dict[str, str] = {}
        """How pods of Jobs with these names go in fair runs; those of the others go well."""
        self.seen = Seen()
        self.budget: int | None = None
        """Writes that the operator may still do before it crashes."""
        self._made = 0

    def copy(self) -> Self:
        """Another one that is the same."""
        other = copy(self)
        other.tasks, other.sessions = dict(self.tasks), dict(self.sessions)
        other.deleted = dict(self.deleted)
        other.jobs = {name: replace(job) for name, job in self.jobs.items()}
        other.remote = self.remote.copy()
        other.reports = set(self.reports)
        other.approvals, other.fates = dict(self.approvals), dict(self.fates)
        seen = self.seen
        other.seen = Seen(
            set(seen.passed),
            seen.spent.copy(),
            seen.recorded,
            set(seen.landed),
            seen.landed_by.copy(),
            set(seen.approved),
            seen.writes,
        )
        return other

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
