"""Task: one step, run by sessions until it is verified and merged."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from bernstein.api.meta import (
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
    immutable_except,
    list_map,
    named,
    one_way,
)
from bernstein.api.signals import Constraints, Files, Work
from bernstein.api.states import TASK_INITIAL, TASK_MOVES, TaskState, cel_rules


class Cancel(Model):
    reason: Annotated[str, Field(min_length=1, max_length=1024)] = "Cancelled by user"


class TaskSpec(Work):
    model_config = {
        **Work.model_config,
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


Verdict = Literal["Passed", "Failed", "Skipped", "Errored", "TimedOut", "Bypassed"]


class CheckResult(Model):
    """The verdict of one completion signal or gate."""

    name: Annotated[str, Field(max_length=63)]
    kind: Literal["signal", "gate"]
    title: Annotated[str, Field(max_length=300)] = ""
    required: bool = True
    asked: Annotated[str, Field(max_length=32)] = Field(
        default="", description="Names the check as it was when it was judged."
    )
    verdict: Verdict
    reason: Annotated[str, Field(max_length=64)] = ""
    excerpt: Annotated[str, Field(max_length=2048)] = ""
    seconds: int | None = Field(default=None, description="That a command took; whole seconds.")


class Verification(Model):
    """What is judged, and how it was judged."""

    round: int = Field(default=0, description="Numbers the Jobs' names.")
    base: Sha
    sha: Sha
    tree: Annotated[str, Field(max_length=64)]
    ref: Annotated[str, Field(max_length=300)]
    candidate: bool = Field(
        default=False, description="Made on a newer tip than the agent worked on."
    )
    python_changed: bool = False
    tests_changed: bool = False
    deps_changed: bool = False
    files_changed: int = 0
    out_of_memory: bool = Field(
        default=False, description="A check ran out of memory, and all were run once more."
    )
    passed: bool | None = None
    digest: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="SHA-256 of what was judged and every verdict."
    )
    checks: Annotated[
        tuple[CheckResult, ...], Field(max_length=64, json_schema_extra=list_map("name"))
    ] = ()


class Delivery(Model):
    state: Literal[
        "None",
        "Pending",
        "Merged",
        "PullRequestOpen",
        "NoChange",
        "Conflict",
        "Rejected",
        "CredentialRefused",
        "Unknown",
    ] = "None"
    step: Literal["Queued", "Preparing", "Landing"] | None = None
    onto: Annotated[str, Field(max_length=300)] | None = None
    tip: Sha | None = Field(default=None, description="Where `onto` was seen last.")
    sha: Sha | None = Field(default=None, description="Commit that landed.")
    tree: Annotated[str, Field(max_length=64)] | None = None
    round: int = 0
    reason: Annotated[str, Field(max_length=64)] | None = None
    message: Annotated[str, Field(max_length=2048)] | None = None
    landed_at: datetime | None = None


class QueueReason(Model):
    reason: Annotated[str, Field(max_length=64)]
    message: Annotated[str, Field(max_length=1024)] = ""


class Hold(Model):
    """Something outside must change first; tried again at `retryAt`, or when the Project
    changes."""

    reason: Annotated[str, Field(max_length=64)]
    message: Annotated[str, Field(max_length=2048)] = ""
    retry_at: datetime
    generation: int = Field(description="Generation of the Project that was tried.")


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


class TaskStatus(Model):
    observed_generation: int = -1
    state: TaskState | None = None
    conditions: Conditions = ()
    project: ObjectName | None = None
    attempt: int = Field(default=0, description="Counted attempts so far.")
    sessions: int = Field(default=0, description="Sessions so far; numbers their names.")
    session: Annotated[str, Field(max_length=63)] | None = None
    infrastructure_failures: int = 0
    gate_errors: int = 0
    reports: int = Field(default=0, description="ConfigMaps made of what failed checks printed.")
    queue: QueueReason | None = None
    hold: Hold | None = None
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
