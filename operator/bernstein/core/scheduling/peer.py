"""What a Task of a Project has, needs and tries, as far as it decides who starts."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from bernstein.api.project import Agent, Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import Tried
from bernstein.core import owners
from bernstein.core.delivery.ledger import LONG_AGO
from bernstein.core.fsm import ACTIVE
from bernstein.core.projects import repositories
from bernstein.core.scheduling import append_only
from bernstein.core.scheduling.evidence import (
    evidence,
    met_at,
    met_beside_its_agent,
    until_said_again,
)
from bernstein.core.scheduling.occupancy import holds_files
from bernstein.core.waiting import is_mended, is_stalled

Order = tuple[bool, int, datetime, str]


@dataclass(frozen=True)
class Peer:
    """A Task that holds files, or may start, or tries whether something is mended."""

    name: str
    plan: str | None
    """The uid of its Plan."""
    state: TaskState | None
    priority: int
    batch: bool
    created: datetime
    files: tuple[str, ...]
    """What it holds at work: what it declares, but for append-only files. In another repository
    than the first of the Project, behind its name: as nothing there is called."""
    agent: str
    provider: Hashable
    """The same for agents that talk to one provider with one key."""
    tried: Tried | None
    """What it has met itself and is to try again, or its session tries now."""
    ready: bool
    """Open, with nothing but capacity, files and the probes of others between it and a session."""
    only_adds: bool = False
    """It declares append-only files and no others: it holds none, and not because it says none."""
    stalled: bool = False
    """It needs a person."""
    stale: bool = False
    """What it has met has to be met again, to count for others."""
    beside_its_agent: bool = False
    """What it has met may be its agent's doing."""
    met_at: datetime | None = None
    """When it failed by what it has met; None: it has met nothing that counts."""
    runs_since: datetime | None = None
    """When its agent began; None: it has none, or that has not begun."""
    repository: str = ""
    """That it works in; "": the only one of the Project."""
    cause: str = ""
    """What it needs a person for, with the remedy, if there is one. Empty: for nothing known."""

    @cached_property
    def order(self) -> Order:
        """Who comes first: sorts the Tasks of a Project."""
        return (self.batch, self.priority, self.created, self.name)

    @property
    def holds_files(self) -> bool:
        return holds_files(self.state, stalled=self.stalled)

    @property
    def is_active(self) -> bool:
        """It has one of the agents."""
        return self.state in ACTIVE


def of(task: Task, project: Project, now: datetime, *, ready: bool, probes: bool) -> Peer | None:
    """The Task; None: it has nothing and does not try anything. `probes`: it does, or may."""
    status, agent = task.status, project.spec.agent(task.spec.cli)
    stalled = is_stalled(status)
    probes = probes or status.state is TaskState.CLAIMED
    if not probes and not holds_files(status.state, stalled=stalled):
        return None
    batch, priority, created, name = order_of(task)
    repository = _repository(task, project)
    files = append_only.held(task.spec.files, project.spec.append_only)
    if repository not in ("", project.spec.repositories[0].name):
        files = tuple(f":{repository}/{path}" for path in files)
    return Peer(
        name=name,
        plan=owners.plan_uid(task),
        state=status.state,
        priority=priority,
        batch=batch,
        created=created,
        files=files,
        agent=agent.name if agent else "",
        provider=provider(agent) if agent else "",
        tried=evidence(status, ready=ready, now=now) if probes else None,
        beside_its_agent=met_beside_its_agent(status),
        met_at=met_at(status) if probes else None,
        runs_since=_runs_since(status),
        ready=ready,
        only_adds=bool(task.spec.files) and not files,
        stalled=stalled,
        stale=_is_stale(status, ready=ready, now=now),
        repository=repository,
        cause=_cause(task, project),
    )


def _repository(task: Task, project: Project) -> str:
    if len(project.spec.repositories) == 1:
        return ""
    return repositories.called(project.spec, task)


def _is_stale(status: TaskStatus, *, ready: bool, now: datetime) -> bool:
    seconds = until_said_again(status, ready=ready, now=now)
    return seconds is not None and seconds <= 0


def _runs_since(status: TaskStatus) -> datetime | None:
    runs = status.state is TaskState.IN_PROGRESS and bool(status.history)
    return status.history[-1].time if runs else None


def order_of(task: Task) -> Order:
    """Who comes first, whether it has or tries anything or not."""
    spec, meta = task.spec, task.metadata
    return spec.mode == "batch", spec.priority, meta.creation_timestamp or LONG_AGO, meta.name


def _cause(task: Task, project: Project) -> str:
    """What keeps it from going on until a person acts; a Project that has changed may mend it."""
    waiting = task.status.waiting
    if waiting is None or not is_stalled(task.status) or is_mended(waiting, project):
        return ""
    return waiting.message


def provider(agent: Agent) -> Hashable:
    """What agents share that talk to one provider with one key; without a key each is its own."""
    if agent.api_key is None:
        return agent.name
    return agent.base_url, agent.api_key.name, agent.api_key.key
