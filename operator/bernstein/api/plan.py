"""Plan: a graph of steps that becomes Tasks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from bernstein.api.delivery import Delivery
from bernstein.api.meta import (
    MOST_AGENTS,
    Conditions,
    Line,
    Metadata,
    Model,
    Money,
    ObjectName,
    Sha,
    Text,
    UsageCounts,
    cel,
    immutable_spec_except,
    list_map,
    named,
    one_way,
)
from bernstein.api.money import Dollars
from bernstein.api.signals import Assignment, Constraints, Files
from bernstein.api.verification import Verification
from bernstein.api.waiting import Cancel, Hold

MAX_SETTLED = 100
"""Sessions that a Plan settles itself at a time; more wait until these are gone."""


class Step(Assignment):
    model_config = {
        **Assignment.model_config,
        "json_schema_extra": cel(
            ("has(self.title) || has(self.goal)", "step must have a 'title' or 'goal' field"),
            (
                "!(has(self.title) && has(self.goal))",
                "'title' and 'goal' are the same field: give one of them",
            ),
        ),
    }

    title: Line | None = None
    goal: Line | None = Field(default=None, description="Older name of title.")

    @property
    def heading(self) -> str:
        return self.title or self.goal or ""


class Stage(Model):
    name: Line
    description: Text | None = None
    depends_on: Annotated[tuple[Line, ...], Field(max_length=40)] | None = Field(
        default=None, description="Stages that come first; absent: the stage before; []: none."
    )
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=50)]


class PlanSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(one_way("cancel")),
    }

    name: Line = Field(description="What the plan is for; told to every agent as the goal.")
    description: Text | None = None
    project_ref: ObjectName | None = Field(
        default=None, description="Absent: the only Project of the namespace, or `default`."
    )
    cli: Line | None = Field(default=None, description="Agent of steps that choose none.")
    budget: Dollars | None = Field(
        default=None,
        description="US dollars: 5, '5.50' or '$5.50'; a number with a point needs quotes.",
    )
    max_agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] | None = None
    constraints: Constraints = ()
    context_files: Files = Field(default=(), description="Files named to every agent as context.")
    stages: Annotated[
        tuple[Stage, ...], Field(min_length=1, max_length=40, json_schema_extra=list_map("name"))
    ]
    suspend: bool = Field(default=False, description="true: no new session starts.")
    cancel: Cancel | None = None


class Counts(Model):
    total: int = 0
    open: int = 0
    running: int = 0
    verifying: int = 0
    closed: int = 0
    failed: int = 0
    cancelled: int = 0


class Estimate(Model):
    minutes: int = Field(description="Along the critical path.")
    cost_usd: Money | None = None
    basis: Annotated[str, Field(max_length=200)]


class PlanTask(Model):
    """Last known facts of one Task; kept when the Task is deleted, so that no spend is lost."""

    name: Annotated[str, Field(max_length=63)]
    stage: Line
    uid: Annotated[str, Field(max_length=64)] | None = None
    state: Annotated[str, Field(max_length=32)] = "Open"
    attempts: int = 0
    sessions: int = Field(
        default=0, description="Number of the last session whose cost is in spendUsd."
    )
    spend_usd: Money = "0"
    usage: UsageCounts = Field(default_factory=UsageCounts)


class Settled(Model):
    """Cost that no Task's row counts.

    It is that of sessions whose Task was deleted before it had counted them, and of deleted Tasks
    whose name another one has now.
    """

    spend_usd: Money = "0"
    usage: UsageCounts = Field(default_factory=UsageCounts)
    sessions: Annotated[
        tuple[Annotated[str, Field(max_length=64)], ...], Field(max_length=MAX_SETTLED)
    ] = Field(default=(), description="Those that are counted here and still exist, by uid.")


class Integration(Model):
    """Where the Plan's verified work gathers before it is delivered."""

    ref: Annotated[str, Field(max_length=300)]
    target: Annotated[str, Field(max_length=300)]
    target_sha: Sha = Field(
        description="Tip of the target when the Plan began; judges come from it."
    )
    sha: Sha | None = Field(default=None, description="Last commit that a Task landed.")
    tree: Annotated[str, Field(max_length=64)] | None = None

    @property
    def tip(self) -> str:
        return self.sha or self.target_sha


class PlanStatus(Model):
    observed_generation: int = -1
    conditions: Conditions = ()
    phase: Annotated[str, Field(max_length=32)] | None = Field(
        default=None, description="Pending, Running, Suspended, Delivering, Succeeded, Failed, ..."
    )
    current_stage: Line | None = None
    project: ObjectName | None = None
    project_uid: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Of that Project, from the start on: another one of its name is not meant.",
    )
    counts: Counts = Field(default_factory=Counts)
    tasks: Annotated[
        tuple[PlanTask, ...], Field(max_length=2000, json_schema_extra=list_map("name"))
    ] = ()
    expanded: bool = Field(default=False, description="All Tasks were made; none is made again.")
    usage: UsageCounts = Field(default_factory=UsageCounts)
    spend_usd: Money = "0"
    settled: Settled | None = None
    estimate: Estimate | None = None
    integration: Integration | None = None
    jobs: int = Field(default=0, description="Jobs of this Plan so far; numbers their names.")
    infrastructure_failures: int = 0
    gate_errors: int = 0
    reports: int = Field(default=0, description="ConfigMaps made of what failed checks printed.")
    hold: Hold | None = None
    verification: Verification | None = None
    delivery: Delivery | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


_NEVER_RAN = (
    "has(oldSelf.status) && has(oldSelf.status.phase) && oldSelf.status.phase == 'Invalid'"
    " && !(has(oldSelf.status.expanded) && oldSelf.status.expanded)"
)
"""CEL: it was refused before anything was made of it, so that it may be corrected."""


class Plan(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            named(63),
            *immutable_spec_except(
                "budget",
                "cancel",
                "maxAgents",
                "suspend",
                spec=PlanSpec,
                unless=_NEVER_RAN,
                remedy="apply a Plan of another name instead",
            ),
        ),
    }

    metadata: Metadata
    spec: PlanSpec
    status: PlanStatus = Field(default_factory=PlanStatus)


def parse(obj: dict[str, Any]) -> Plan:
    """A Plan as the API server serves it."""
    return Plan.model_validate(obj)
