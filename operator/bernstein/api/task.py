"""Task: one step, run by sessions until it is verified and merged."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from bernstein.api.delivery import Delivery
from bernstein.api.meta import (
    Conditions,
    Line,
    Metadata,
    Model,
    Money,
    ObjectName,
    Text,
    UsageCounts,
    cel,
    immutable_except,
    named,
    one_way,
)
from bernstein.api.older import OLDER, QueueReason, Waits
from bernstein.api.signals import Assignment, Constraints, Files
from bernstein.api.states import TASK_INITIAL, TASK_MOVES, TaskState, cel_rules
from bernstein.api.verification import Verification
from bernstein.api.waiting import Cancel


class TaskSpec(Assignment):
    model_config = {
        **Assignment.model_config,
        "json_schema_extra": immutable_except(
            "cancel", remedy="make a Task of another name instead", rules=(one_way("cancel"),)
        ),
    }

    title: Line
    goal: Line | None = Field(default=None, description="What the Plan is for.")
    project_ref: ObjectName | None = Field(
        default=None, description="Absent: the only Project of the namespace, or `default`."
    )
    stage: Line | None = None
    stage_description: Text | None = Field(default=None, description="What the stage is for.")
    depends_on: Annotated[tuple[ObjectName, ...], Field(max_length=2000)] = Field(
        default=(), description="Tasks of this namespace that must be Closed first."
    )
    constraints: Constraints = ()
    context_files: Files = ()
    max_retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=3, description="Attempts after the first one."
    )
    cancel: Cancel | None = None


class Move(Model):
    """One change of state."""

    from_state: Annotated[str, Field(max_length=32)] | None = None
    to_state: Annotated[str, Field(max_length=32)]
    actor: Annotated[str, Field(max_length=128)] = "operator"
    reason: Annotated[str, Field(max_length=64)]
    attempt: int
    time: datetime


class Attempt(Model):
    """How one session ended."""

    session: Annotated[str, Field(max_length=63)]
    attempt: int
    counted: bool
    reason: Annotated[str, Field(max_length=64)]
    message: Annotated[str, Field(max_length=512)] = ""
    model: Annotated[str, Field(max_length=300)] = ""
    spend_usd: Money = "0"


class TaskStatus(Waits):
    observed_generation: int = -1
    state: TaskState | None = None
    conditions: Conditions = ()
    project: ObjectName | None = None
    project_uid: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Of that Project, from the start on: another one of its name is not meant.",
    )
    attempt: int = Field(default=0, description="Counted attempts so far.")
    sessions: int = Field(default=0, description="Sessions so far; numbers their names.")
    session: Annotated[str, Field(max_length=63)] | None = None
    infrastructure_failures: int = 0
    gate_errors: int = 0
    reports: int = Field(default=0, description="ConfigMaps made of what failed checks printed.")
    queue: QueueReason | None = Field(default=None, description=OLDER)
    feedback: Annotated[str, Field(max_length=6000)] | None = Field(
        default=None, description="Why the last attempt was rejected; told to the next one."
    )
    checkpoint: Annotated[str, Field(max_length=300)] | None = Field(
        default=None,
        description="Ref of what a session that was cut off left for the next one.",
    )
    verification: Verification | None = None
    delivery: Delivery | None = None
    model: Annotated[str, Field(max_length=300)] | None = None
    usage: UsageCounts = Field(default_factory=UsageCounts)
    spend_usd: Money = "0"
    spend_source: Literal["Reported", "Unpriced"] | None = None
    attempts: Annotated[tuple[Attempt, ...], Field(max_length=30)] = ()
    history: Annotated[tuple[Move, ...], Field(max_length=30)] = ()
    started_at: datetime | None = None
    ended_at: datetime | None = None


class Task(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(named(40), *cel_rules(TASK_MOVES, TASK_INITIAL)),
    }

    metadata: Metadata
    spec: TaskSpec
    status: TaskStatus = Field(default_factory=TaskStatus)


def parse(obj: dict[str, Any]) -> Task:
    """A Task as the API server serves it."""
    return Task.model_validate(obj)
