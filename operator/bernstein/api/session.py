"""AgentSession: one run of one agent for one Task."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from bernstein.api.meta import (
    TAKEN_OVER,
    Conditions,
    CopiedLine,
    Leader,
    Metadata,
    Model,
    ObjectName,
    ProtectedPath,
    Sha,
    UsageCounts,
    cel,
    immutable_except,
    list_map,
    named,
    one_way,
)
from bernstein.api.project import CopiedPrice
from bernstein.api.states import SESSION_INITIAL, SESSION_MOVES, SessionState, cel_rules
from bernstein.api.verification import MostChanged, RejectedWork
from bernstein.api.vocabulary import Effort
from bernstein.api.waiting import Abandoned


class TaskRef(Model):
    name: ObjectName
    """Name of the Task."""
    uid: Annotated[str, Field(max_length=64)]
    """Uid of the Task."""


class PlanRef(Model):
    name: ObjectName
    """Name of the Plan."""
    uid: Annotated[str, Field(max_length=64)]
    """Uid of the Plan."""


class Stop(Model):
    """A soft stop: the agent is asked to end, its work so far is kept."""

    reason: Annotated[str, Field(min_length=1, max_length=64)]
    """Why, in one word."""


class AgentSessionSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": immutable_except(
            "stop", remedy="a session is one run", rules=(one_way("stop"),)
        ),
    }

    task_ref: TaskRef
    """Task that it works for."""
    plan_ref: PlanRef | None = Field(
        default=None, description="Plan of its Task; it keeps the cost, also without the Task."
    )
    project: ObjectName
    """Project of the Task."""
    attempt: int = Field(ge=1)
    """Which attempt of the Task it is; the first is 1."""
    number: int = Field(ge=1, description="k of the session's name and ref.")
    agent: CopiedLine
    """Agent of the Project."""
    adapter: CopiedLine
    """How the agent's CLI is called and read."""
    model: CopiedLine
    """Provider's name of the model."""
    effort: Effort
    """How hard the model should think."""
    price: CopiedPrice | None = Field(
        default=None,
        description="Of the model, when the session was made. Absent: nobody knew one, or an older "
        "release made it; then the present price counts.",
    )
    base_ref: CopiedLine
    """Ref that the work begins at."""
    work_ref: CopiedLine
    """Ref that the work is pushed to."""
    resume_ref: CopiedLine | None = Field(
        default=None, description="Checkpoint of the session before, whose files it starts with."
    )
    resume_sha: Sha | None = Field(
        default=None,
        description="Commit that this ref must be at. Absent: its pod was lost before it told.",
    )
    rejected: RejectedWork | None = Field(
        default=None,
        description="What the attempt before left; its prompt shows what that changes, unless it "
        "starts with the files of a checkpoint.",
    )
    documents: (
        Annotated[
            tuple[Annotated[str, Field(max_length=63)], ...],
            Field(max_length=5, json_schema_extra={"x-kubernetes-list-type": "set"}),
        ]
        | None
    ) = Field(
        default=None,
        description="What its agent may leave beside its code, but for output.json, such as "
        "subtasks.yaml. Absent: nothing.",
    )
    timeout_seconds: int = Field(ge=1)
    """How long it may take, in seconds."""
    role_digest: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="SHA-256 of what AgentRoles have a say in of its prompt. Absent: none has.",
    )
    stop: Stop | None = None


class Report(Model):
    """What the recorder says of its agent, through the server, which alone writes it. Logs of
    checks, which a Task counts as `status.reports`, are something else."""

    seq: int = 0
    """Counts reports; an older one than was seen is dropped."""
    heartbeat_time: datetime | None = None
    """When the recorder reported last."""
    last_activity_time: datetime | None = None
    """When the agent printed or wrote last."""
    usage: UsageCounts | None = None
    """Tokens so far, by the agent's own count."""
    model: Annotated[str, Field(max_length=300)] | None = None
    """Model that the agent says it uses."""
    progress: Annotated[str, Field(max_length=200)] | None = None
    """What the agent says that it does; not believed."""
    checkpoint: Sha | None = None
    """Last commit of unfinished work that was pushed."""
    outcome: Annotated[str, Field(max_length=64)] | None = None
    """What the agent's last record came to; it counts where the pod's own message is lost."""
    no_change: bool | None = None
    """Whether the agent said that nothing was needed."""
    low_confidence: Annotated[str, Field(max_length=64)] | None = None
    """How the agent said that it is not sure of its work."""
    finished: bool | None = None
    """Whether the agent's program has ended."""


class PodRef(Model):
    name: ObjectName
    """Name of the pod."""
    uid: Annotated[str, Field(max_length=64)]
    """Uid of the pod."""
    node: Annotated[str, Field(max_length=253)] | None = None
    """Node that it runs on."""


class Outcome(Model):
    """Why the session ended, classified."""

    reason: Annotated[str, Field(max_length=64)] = Field(
        description="Succeeded, or a failure's name."
    )
    message: Annotated[str, Field(max_length=2048)] = ""
    """Why, for people."""
    remedy: Annotated[str, Field(max_length=1024)] = ""
    """What helps."""
    started: bool = Field(default=False, description="The agent container ran.")
    exit_code: int | None = None
    """That of the agent's program."""
    retry_after_seconds: int | None = None
    """When the provider said to come back, in seconds."""
    no_change: bool = Field(default=False, description="The agent said that nothing was needed.")
    low_confidence: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="In our words, how the end of its last message said that it is not sure.",
    )
    waits_for: Annotated[tuple[ObjectName, ...], Field(max_length=10)] | None = Field(
        default=None, description="Names of Tasks that the agent says it waits for; not believed."
    )
    text: Annotated[str, Field(max_length=2048)] = Field(
        default="", description="Tail of the agent's last message; not believed."
    )


class Work(Model):
    """The commit that the pusher brought out."""

    base: Sha
    """Commit that the agent began with."""
    sha: Sha
    """Commit of what it left."""
    tree: Annotated[str, Field(max_length=64)]
    """Tree of that commit."""
    ref: Annotated[str, Field(max_length=300)]
    """Where the commit is."""
    final: bool = True
    """false: a checkpoint of unfinished work."""
    files_changed: int = 0
    """How many files differ from the base."""
    most_changed: MostChanged | None = Field(
        default=None, description="Some of these, those with the most changed lines first."
    )
    tests_weakened: ProtectedPath | None = Field(
        default=None,
        description="A test that existed and is weaker, with what was taken from it, cut.",
    )
    checks_configured: ProtectedPath | None = Field(
        default=None, description="A file that configures checks otherwise than before, cut."
    )
    python_changed: bool = False
    """Whether Python files are among the changed ones."""
    tests_changed: bool = False
    """Whether tests are among the changed files."""
    deps_changed: bool = False
    """Whether lists of dependencies are among the changed files."""
    protected: ProtectedPath | None = None
    """First protected path among the changed ones, cut."""
    protected_more: Annotated[tuple[ProtectedPath, ...], Field(max_length=3)] | None = Field(
        default=None, description="Some more of them, cut."
    )
    protected_files: int | None = Field(
        default=None, description="How many protected paths differ. Absent: an older release."
    )
    protected_by: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="Digest of the list of protected paths that it was compared with."
    )


class Prompt(Model):
    """The prompt that the agent got, as its pod says that put it together."""

    digest: Annotated[str, Field(max_length=64)]
    """SHA-256 of it."""
    bytes: int
    """How long it is."""
    base: Sha
    """Commit whose files it holds."""
    cut: Annotated[tuple[Annotated[str, Field(max_length=300)], ...], Field(max_length=20)] = ()
    """What was left out of it for want of room."""
    resumed: bool | None = None
    """Whether its files are those of the checkpoint that it was to start with; absent: of none."""
    mark: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Word of the marks around what others have written in it, drawn for it alone. "
        "Absent: an older release.",
    )
    parts: Annotated[Mapping[str, Annotated[int, Field(ge=0)]], Field(max_length=20)] = Field(
        default_factory=dict,
        description="Bytes of each part that has any, without its marks. Absent: an older release.",
    )
    change_missing: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Reason for which it lacks what the attempt before changed. Absent: it has "
        "that, or is to have none.",
    )
    knowledge_missing: Annotated[
        tuple[Annotated[str, Field(max_length=300)], ...], Field(max_length=20)
    ] = Field(
        default=(),
        description="What the Project tells all its agents and it lacks, each with the reason.",
    )


class KeptDocument(Model):
    """A document that the agent left beside its code, in the ConfigMap `<session>-documents`."""

    name: Annotated[str, Field(max_length=63)]
    """Key in the ConfigMap, such as output.json."""
    bytes: int
    """How long it is."""
    sha256: Annotated[str, Field(max_length=64)]
    """SHA-256 of it: what the ConfigMap has under the name counts only with this one."""


class AgentSessionStatus(Model):
    observed_generation: int = -1
    """Generation that this status is about; -1: none yet."""
    state: SessionState | None = None
    """Where it is on its way; Dead is the end, well or not."""
    conditions: Conditions = ()
    """Reconciling, Stalled, Stale, Stopping, Succeeded and others."""
    job: ObjectName | None = None
    """Job of the agent."""
    pod: PodRef | None = None
    """Pod of the agent."""
    prompt: Prompt | None = None
    abandoned: Abandoned | None = Field(
        default=None, description="Why its pod is being ended, where nobody asked for that."
    )
    report: Report | None = None
    work: Work | None = None
    documents: (
        Annotated[tuple[KeptDocument, ...], Field(max_length=5, json_schema_extra=list_map("name"))]
        | None
    ) = Field(default=None, description="What it left beside its code, where it reports success.")
    usage: UsageCounts | None = None
    """Tokens that count, once it has ended."""
    outcome: Outcome | None = None
    judgement: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="How its Task judged what it left: Verified, or what said no. Absent: not "
        "judged, or there was nothing to judge.",
    )
    reason: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="In one word why it waits, ends or failed; of a run that reported success, how "
        "its work was judged.",
    )
    started_at: datetime | None = None
    """When the agent's container began."""
    ended_at: datetime | None = None
    """When its pod had ended."""
    leader: Leader | None = Field(default=None, description=TAKEN_OVER)


class AgentSession(Model):
    """One run of one agent for one Task. The operator makes it."""

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
