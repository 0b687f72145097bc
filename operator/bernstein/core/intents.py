"""What a decision about a Task asks for, and what it was decided on."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import QueueReason, Task, TaskStatus
from bernstein.core.checks import DIGEST, CheckSpec
from bernstein.core.pods import JobView

Turns = dict[tuple[str, int], Mapping[str, QueueReason | None]]
"""Why each ready Task may not start (None: it may), by Project and second."""


@dataclass(frozen=True)
class TaskSnapshot:
    """Everything that the decision about one Task looks at."""

    task: Task
    project: Project | None
    project_problem: str | None = None
    plan: Plan | None = None
    plan_missing: bool = False
    """The Task belongs to a Plan that is gone or being deleted."""
    session: AgentSession | None = None
    """The current one."""
    jobs: Mapping[str, JobView] = field(default_factory=dict)
    """Follow-up Jobs of this Task, by name."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """Every Task of the namespace, this one included, by name."""
    sessions: Mapping[str, AgentSession] = field(default_factory=dict)
    """Every AgentSession of the namespace, by name."""
    plans: Mapping[str, Plan] = field(default_factory=dict)
    """Every Plan of the namespace, by name."""
    turns: Turns = field(default_factory=dict)
    """What is known already; shared by snapshots with the same Tasks, Projects and Plans."""

    @property
    def peers(self) -> list[Task]:
        """Tasks of the same Project, this one included."""
        mine = self.project.metadata.name if self.project else None
        return [
            t
            for t in self.tasks.values()
            if t.metadata.name == self.task.metadata.name or t.status.project == mine
        ]


@dataclass(frozen=True)
class CreateSession:
    number: int


@dataclass(frozen=True)
class StopSession:
    reason: str


@dataclass(frozen=True)
class RunCheck:
    """A Job that executes one check on the commit `sha` at `ref`."""

    job: str
    check: CheckSpec
    ref: str
    sha: str
    pinned_sha: str

    @property
    def asked(self) -> str:
        return self.check.digest


@dataclass(frozen=True)
class RunInspect:
    """The Job of all checks that only read."""

    job: str
    checks: tuple[CheckSpec, ...]
    ref: str
    sha: str
    base: str
    onto: str

    @property
    def asked(self) -> str:
        """Names all that is asked at once."""
        together = ",".join(check.digest for check in self.checks)
        return hashlib.sha256(together.encode()).hexdigest()[:DIGEST]


@dataclass(frozen=True)
class RunPrepare:
    """A Job that makes the candidate of `sha` on the tip of `onto`."""

    job: str
    ref: str
    sha: str
    onto: str
    candidate: str
    message: str
    merge: bool = False


@dataclass(frozen=True)
class RunLand:
    """A Job that brings `sha` to `onto`; asked for only after may_merge."""

    job: str
    ref: str
    sha: str
    tree: str
    onto: str
    expect: str


@dataclass(frozen=True)
class DeleteJobs:
    jobs: tuple[JobView, ...]


@dataclass(frozen=True)
class KeepReports:
    """Save the end of what these Jobs' checks printed, before the Jobs go; best effort."""

    jobs: tuple[JobView, ...]
    before: int = 0
    """How many were saved before for the same Task or Plan."""


def give_up(jobs: Iterable[JobView]) -> tuple[DeleteJobs, ...]:
    """They will not be waited for, and must not go on or start later."""
    left = tuple(job for job in jobs if job.goes_on)
    return (DeleteJobs(left),) if left else ()


@dataclass(frozen=True)
class RunBegin:
    """A Job that makes the Plan's integration ref at the tip of the target branch."""

    job: str
    target: str
    integration: str


@dataclass(frozen=True)
class CreateTasks:
    """Task objects, as the API server takes them."""

    objects: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class CancelTasks:
    """Hand the Plan's cancel on to these Tasks."""

    names: tuple[str, ...]
    reason: str


JobIntent = RunCheck | RunInspect | RunPrepare | RunLand | KeepReports | DeleteJobs
"""What Tasks and Plans ask for alike."""
Intent = CreateSession | StopSession | JobIntent


@dataclass(frozen=True)
class Decision:
    """The status to write (if it differs), what to do first, when to look again at the latest."""

    status: TaskStatus
    intents: tuple[Intent, ...] = ()
    requeue_after: float | None = None


PlanIntent = CreateTasks | CancelTasks | RunBegin | JobIntent


@dataclass(frozen=True)
class PlanSnapshot:
    """Everything that the decision about one Plan looks at."""

    plan: Plan
    project: Project | None
    project_problem: str | None = None
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """The Plan's Tasks, by name."""
    sessions: Collection[AgentSession] = ()
    """Those of its Tasks, and of Tasks that it had."""
    jobs: Mapping[str, JobView] = field(default_factory=dict)
    """The Plan's own Jobs, by name."""


@dataclass(frozen=True)
class PlanDecision:
    """Like Decision, for a Plan."""

    status: PlanStatus
    intents: tuple[PlanIntent, ...] = ()
    requeue_after: float | None = None
