"""AgentSession: one run of one agent for one Task."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from bernstein.api.meta import (
    Conditions,
    CopiedLine,
    Metadata,
    Model,
    ObjectName,
    Sha,
    UsageCounts,
    cel,
    immutable_except,
    named,
    one_way,
)
from bernstein.api.project import Price
from bernstein.api.states import SESSION_INITIAL, SESSION_MOVES, SessionState, cel_rules
from bernstein.api.vocabulary import Effort
from bernstein.api.waiting import Abandoned


class TaskRef(Model):
    name: ObjectName
    uid: Annotated[str, Field(max_length=64)]


class PlanRef(Model):
    name: ObjectName
    uid: Annotated[str, Field(max_length=64)]


class Stop(Model):
    """A soft stop: the agent is asked to end, its work so far is kept."""

    reason: Annotated[str, Field(min_length=1, max_length=64)]


class AgentSessionSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": immutable_except(
            "stop", remedy="a session is one run", rules=(one_way("stop"),)
        ),
    }

    task_ref: TaskRef
    plan_ref: PlanRef | None = Field(
        default=None, description="Plan of its Task; it keeps the cost, also without the Task."
    )
    project: ObjectName
    attempt: int = Field(ge=1)
    number: int = Field(ge=1, description="k of the session's name and ref.")
    agent: CopiedLine
    adapter: CopiedLine
    model: CopiedLine
    effort: Effort
    price: Price | None = Field(
        default=None,
        description="Of the model, when the session was made. Absent: nobody knew one, or an older "
        "release made it; then the present price counts.",
    )
    base_ref: CopiedLine
    work_ref: CopiedLine
    resume_ref: CopiedLine | None = Field(
        default=None, description="Checkpoint of the session before, whose files it starts with."
    )
    timeout_seconds: int = Field(ge=1)
    stop: Stop | None = None


class Report(Model):
    """What the recorder says through the server; written by the server alone."""

    seq: int = 0
    heartbeat_time: datetime | None = None
    last_activity_time: datetime | None = None
    usage: UsageCounts | None = None
    model: Annotated[str, Field(max_length=300)] | None = None
    progress: Annotated[str, Field(max_length=200)] | None = None
    checkpoint: Sha | None = None
    finished: bool | None = None


class PodRef(Model):
    name: ObjectName
    uid: Annotated[str, Field(max_length=64)]
    node: Annotated[str, Field(max_length=253)] | None = None


class Outcome(Model):
    """Why the session ended, classified."""

    reason: Annotated[str, Field(max_length=64)] = Field(
        description="Succeeded, or a failure's name."
    )
    message: Annotated[str, Field(max_length=2048)] = ""
    remedy: Annotated[str, Field(max_length=1024)] = ""
    started: bool = Field(default=False, description="The agent container ran.")
    exit_code: int | None = None
    retry_after_seconds: int | None = None
    no_change: bool = Field(default=False, description="The agent said that nothing was needed.")
    text: Annotated[str, Field(max_length=2048)] = Field(
        default="", description="Tail of the agent's last message; not believed."
    )


class Work(Model):
    """The commit that the pusher brought out."""

    base: Sha
    sha: Sha
    tree: Annotated[str, Field(max_length=64)]
    ref: Annotated[str, Field(max_length=300)]
    final: bool = True
    files_changed: int = 0
    python_changed: bool = False
    tests_changed: bool = False
    deps_changed: bool = False


class AgentSessionStatus(Model):
    observed_generation: int = -1
    state: SessionState | None = None
    conditions: Conditions = ()
    job: ObjectName | None = None
    pod: PodRef | None = None
    abandoned: Abandoned | None = Field(
        default=None, description="Why its pod is being ended, where nobody asked for that."
    )
    report: Report | None = None
    work: Work | None = None
    usage: UsageCounts | None = None
    outcome: Outcome | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


class AgentSession(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(named(63), *cel_rules(SESSION_MOVES, SESSION_INITIAL)),
    }

    metadata: Metadata
    spec: AgentSessionSpec
    status: AgentSessionStatus = Field(default_factory=AgentSessionStatus)


def parse(obj: dict[str, Any]) -> AgentSession:
    """An AgentSession as the API server serves it."""
    return AgentSession.model_validate(obj)
