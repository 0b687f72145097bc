"""Task: one step, run by sessions until it is verified and merged."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.approvals.policy import ApprovalPolicy, DecisionPolicy
from bernstein.api.delivery import Delivery
from bernstein.api.meta import (
    MOST_AGENTS,
    TAKEN_OVER,
    Conditions,
    Leader,
    Line,
    Metadata,
    Model,
    Money,
    Name,
    ObjectName,
    Sha,
    Text,
    UsageCounts,
    UserName,
    cel,
    immutable_except,
    list_map,
    named,
    one_way,
    rule,
)
from bernstein.api.money import Dollars, SpendSource
from bernstein.api.older import OLDER, QueueReason, WithWaiting
from bernstein.api.plan import MAX_STAGES, SPLIT_CHANGES
from bernstein.api.plans.parts import Parts
from bernstein.api.projects.repository import RepositoryPath
from bernstein.api.projects.subtasks import MOST_SUBTASKS
from bernstein.api.requests import Answers, TaskRequests, answered_once, kept_until_answered
from bernstein.api.signals import MOST_PATTERN_CHARACTERS, Assignment, Constraints, Files, Signals
from bernstein.api.states import TASK_INITIAL, TASK_MOVES, TaskState, cel_rules
from bernstein.api.verification import RejectedWork, Verification
from bernstein.api.vocabulary import PlanMerge
from bernstein.api.waiting import Cancel

MOST_ATTEMPTS = 30
"""That a status keeps; the oldest go first."""
MOST_MOVES = 30
"""That a status keeps; the oldest go first."""
LONGEST_FEEDBACK = 6000
LONGEST_MESSAGE = 512
MOST_AWAITED = 10
"""Tasks that an agent may say it waits for."""
MOST_EDGES = 50
"""Tasks that one may depend on. An older release has made Tasks that name up to 2,000: they are
read, and go on."""
_FEW_EXPRESSIONS = rule(
    "self.filter(s, has(s.regex) && s.regex && has(s.contains)).map(s, size(s.contains)).sum() <= "
    f"{MOST_PATTERN_CHARACTERS}",
    f"the regular expressions of a Task have at most {MOST_PATTERN_CHARACTERS} characters together",
)
"""Of the list, not of the whole: one that an older release has taken can still be cancelled."""


_CHANGES_NOTHING = rule(
    "!has(self.produces) || (has(self.changes) && self.changes == 'none')",
    "a Task that produces a Plan changes no file: it says `changes: none`",
    fieldPath=".produces",
)


class PlanToMake(Model):
    """What the user says of the Plan. What its plan file says, too, counts where it is the
    stricter one."""

    name: Name | None = Field(
        default=None,
        description="Name of the Plan object. Absent: made of the name in the plan file.",
    )
    budget: Dollars | None = Field(
        default=None,
        description="US dollars that it may cost at most: 5, '5.50' or '$5.50'; a number with a "
        "point needs quotes. Absent: what its plan file says, if anything.",
    )
    max_agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] | None = Field(
        default=None, description="Agents that may work for it at the same time, at most."
    )
    merge: PlanMerge | None = Field(
        default=None,
        description="pr: what it delivers goes to a pull request. Absent: as its plan file or the "
        "Project says.",
    )
    approval: DecisionPolicy | None = Field(
        default=None,
        description="When a person must say yes beside the one that it always waits for: before "
        "anything of it begins.",
    )

    @property
    def policy(self) -> ApprovalPolicy:
        """Nothing of it begins before a person has seen it."""
        return ApprovalPolicy(plan="Always", **dict(self.approval or ()))


class Produces(Model):
    """What becomes of what the agent leaves, beside a change."""

    plan: PlanToMake = Field(
        description="The agent leaves a plan file, and a Plan is made of it once the Task is "
        "Closed. It waits for an approval."
    )


class TaskSpec(Assignment):
    model_config = {
        **Assignment.model_config,
        "json_schema_extra": immutable_except(
            "cancel",
            "requests",
            once=("author",),
            remedy="make a Task of another name instead",
            rules=(one_way("cancel"), _CHANGES_NOTHING, SPLIT_CHANGES),
        ),
    }

    title: Line
    """What is to be done, in one line."""
    goal: Line | None = Field(default=None, description="What the Plan is for.")
    project_ref: ObjectName | None = Field(
        default=None, description="Absent: the only Project of the namespace, or `default`."
    )
    repo: RepositoryPath | None = Field(
        default=None,
        description="Name or url of the Project's repository that it works in. Absent: that of its "
        "Plan; without one the first of the Project.",
    )
    stage: Line | None = None
    """Stage of its Plan."""
    stage_description: Text | None = Field(default=None, description="What the stage is for.")
    completion_signals: Signals = Field(
        default=(),
        description="What must hold of the tree that the agent leaves.",
        json_schema_extra=cel(_FEW_EXPRESSIONS),
    )
    depends_on: tuple[ObjectName, ...] = Field(
        default=(),
        description="Tasks of this namespace that must be Closed first.",
        json_schema_extra={"maxItems": MOST_EDGES},
    )
    depends_on_stages: Annotated[tuple[Line, ...], Field(max_length=MAX_STAGES)] = Field(
        default=(), description="Stages of its Plan whose Tasks must all be Closed first."
    )
    depends_on_repo: Name | None = Field(
        default=None,
        description="Repository of the Project of which all Tasks of its Plan must be Closed "
        "first.",
    )
    constraints: Constraints = ()
    """What the agent must keep to."""
    context_files: Files = ()
    """Files that the agent is told to read."""
    max_retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=3, description="Attempts after the first one."
    )
    produces: Produces | None = Field(
        default=None,
        description="The agent is to leave a plan file, of which a Plan is made. Absent: its work "
        "is what it changes.",
    )
    subtasks: Parts = Field(
        default=(),
        exclude_if=lambda parts: not parts,
        description="What it is split into before anybody works on it: other Tasks of its Plan. "
        "Absent: an agent works on it.",
    )
    author: UserName | None = Field(
        default=None,
        description="Who made the Task, where no Plan did, or stands for it: the user's own name, "
        "or it is refused. Written once, also later.",
    )
    cancel: Cancel | None = None
    """Ends the Task for good; its agent gets time to save its work."""
    requests: TaskRequests = ()
    """What is asked of it beside its work; answered once, in status.requests."""


class Move(Model):
    """One change of state."""

    from_state: Annotated[str, Field(max_length=32)] | None = None
    """State before; absent: it is the first."""
    to_state: Annotated[str, Field(max_length=32)]
    """State after."""
    actor: Annotated[str, Field(max_length=300)] = "operator"
    """Who moved it: `operator`, or the user who asked for it."""
    reason: Annotated[str, Field(max_length=64)]
    """Why, in one word."""
    attempt: int
    """Counted attempts at that time."""
    time: datetime
    """When."""


class Attempt(Model):
    """How one session ended."""

    session: Annotated[str, Field(max_length=63)]
    """Name of the AgentSession."""
    attempt: int
    """Which attempt it belonged to; the first is 1."""
    counted: bool
    """Whether it cost an attempt."""
    reason: Annotated[str, Field(max_length=64)]
    """How it ended, in one word."""
    message: Annotated[str, Field(max_length=LONGEST_MESSAGE)] = ""
    """How it ended, for people."""
    model: Annotated[str, Field(max_length=300)] = ""
    """Model that worked."""
    spend_usd: Money = "0"
    """US dollars that it cost."""
    times: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="Sessions in a row that ended so, this being the last of them. Absent: one.",
    )
    not_taken: bool | None = None
    """The agent ran, but a container of ours failed on what it left."""


class Round(Model):
    """A round of attempts that a Retry has granted: as many as the Task had at first. Rounds of
    checks are in `verification.round`."""

    number: int
    """How many rounds were granted so far."""
    since: int = Field(description="No time: how many attempts were counted before this round.")


class Blocked(Model):
    """What its agent said that it waits for."""

    session: Annotated[str, Field(max_length=63)]
    """AgentSession that said so."""
    text: Annotated[str, Field(max_length=512)] = ""
    """In the agent's words; not believed."""
    tasks: Annotated[tuple[ObjectName, ...], Field(max_length=MOST_AWAITED)] = Field(
        default=(),
        description="Tasks that it named and may wait for: once they are Closed, it is Open again.",
    )
    refused: Annotated[tuple[ObjectName, ...], Field(max_length=MOST_AWAITED)] | None = Field(
        default=None, description="Names of others that it named."
    )
    times: Annotated[int, Field(ge=0)] = Field(
        default=1,
        description="How often in a row it was Blocked, without a person and without an attempt "
        "that counts between.",
    )
    answer: Annotated[str, Field(max_length=300)] | None = Field(
        default=None, description="What a person said who unblocked it; told to the next agent."
    )


class Output(Model):
    """The output.json of a session. It is in the ConfigMap `<session>-documents`."""

    session: Annotated[str, Field(max_length=63)]
    """AgentSession that left it."""
    bytes: int
    """How long it is."""
    sha256: Annotated[str, Field(max_length=64)]
    """SHA-256 of it."""


class Produced(Model):
    """What was made of what the agent left."""

    plan: Name
    """Name of the Plan. It is made once: deleted, it does not come back."""


class Subtask(Model):
    """One of the Tasks into which a Task is split."""

    name: ObjectName
    """Name of its Task."""
    uid: Annotated[str, Field(max_length=64)] | None = None
    """Uid of its Task, once that was seen."""
    state: Annotated[str, Field(max_length=32)] = "Open"
    """Its state when it was seen last."""


class Split(Model):
    """That a Task is split, by its spec or by what its agent has left."""

    number: Annotated[int, Field(ge=1)]
    """How often it was split; in the names of its subtasks."""
    session: Annotated[str, Field(max_length=63)] | None = Field(
        default=None,
        description="AgentSession that left its subtasks. Absent: they are in its spec.",
    )
    sha256: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="SHA-256 of what that left, in the ConfigMap `<session>-documents`.",
    )
    since: datetime
    """When it was split."""
    over: bool | None = Field(
        default=None,
        description="true: it waits for them no more: all are Closed, or somebody said so.",
    )


class TaskStatus(WithWaiting):
    observed_generation: int = -1
    """Generation that this status is about; -1: none yet."""
    state: TaskState | None = None
    """Where it is on its way; Closed is the good end."""
    conditions: Conditions = ()
    """Reconciling, Stalled, Verified, DependenciesMet, Succeeded and others."""
    project: ObjectName | None = None
    """Project that it belongs to."""
    project_uid: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Of that Project, from the start on: another one of its name is not meant.",
    )
    attempt: int = Field(
        default=0, description="Attempts that have ended and count; the one at work is the next."
    )
    round: Round | None = Field(default=None, description="Absent: no Retry has granted one.")
    requests: Answers | None = None
    """Answers to requests, the oldest first."""
    sessions: int = Field(default=0, description="Sessions so far; numbers their names.")
    session: Annotated[str, Field(max_length=63)] | None = None
    """AgentSession that works for it, or did last."""
    infrastructure_failures: int = 0
    """Sessions and Jobs in a row that failed through nobody's fault."""
    gate_errors: int = 0
    """Rounds of checks in a row that could not run."""
    judge_retries: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="Attempts that were rejected because a model asked for one more. Absent: none.",
    )
    reports: int = Field(
        default=0,
        description="Logs of checks that are kept: ConfigMaps made of what failed checks printed. "
        "What an agent reports is in `status.report` of its session.",
    )
    queue: QueueReason | None = Field(default=None, description=OLDER)
    feedback: Annotated[str, Field(max_length=LONGEST_FEEDBACK)] | None = Field(
        default=None, description="Why the last attempt was rejected; told to the next one."
    )
    rejected: RejectedWork | None = Field(
        default=None,
        description="What the last attempt that counts left, where it was rejected; the next one "
        "is shown what it changes.",
    )
    checkpoint: Annotated[str, Field(max_length=300)] | None = Field(
        default=None,
        description="Ref of what a session that was cut off left for the next one.",
    )
    checkpoint_sha: Sha | None = Field(
        default=None,
        description="Commit of it, without which the next one starts afresh. Absent: its pod was "
        "lost before it told.",
    )
    blocked: Blocked | None = Field(
        default=None,
        description="What the session before waited for; kept until an attempt counts.",
    )
    resolved: bool | None = Field(
        default=None,
        description="An attempt of this round of attempts was begun because the work before did "
        "not merge.",
    )
    output: Output | None = Field(
        default=None,
        description="Values that its agent left for others to read. Absent: the last session that "
        "reported success left none.",
    )
    produced: Produced | None = Field(
        default=None, description="Absent: nothing was made, or `spec.produces` asks for nothing."
    )
    split: Split | None = Field(
        default=None,
        description="That it was split into subtasks. Absent: it was not.",
    )
    subtasks: (
        Annotated[
            tuple[Subtask, ...],
            Field(max_length=MOST_SUBTASKS, json_schema_extra=list_map("name")),
        ]
        | None
    ) = Field(default=None, description="Tasks that it was split into last. Absent: none.")
    verification: Verification | None = None
    approval: AskedApproval | None = None
    delivery: Delivery | None = None
    model: Annotated[str, Field(max_length=300)] | None = None
    """Model of the last session."""
    usage: UsageCounts = Field(default_factory=UsageCounts)
    spend_usd: Money = "0"
    """US dollars that its sessions have cost so far, and models that were asked about its work."""
    models_usd: Money | None = Field(
        default=None,
        description="US dollars in it that models have cost which were asked about its work. "
        "Absent: none was.",
    )
    spend_source: SpendSource | None = None
    """Reported: by the agents' own counts. Computed: only models were asked. Unpriced: of a session
    the price was unknown. Unreported: the agent of one tells no tokens. Neither is counted."""
    attempts: Annotated[tuple[Attempt, ...], Field(max_length=MOST_ATTEMPTS)] = ()
    """How its last sessions ended, also those that count for no attempt."""
    history: Annotated[tuple[Move, ...], Field(max_length=MOST_MOVES)] = ()
    """Its last changes of state."""
    started_at: datetime | None = None
    """When its first session began."""
    ended_at: datetime | None = None
    """When it ended, well or not."""
    leader: Leader | None = Field(default=None, description=TAKEN_OVER)


class Task(Model):
    """One step: sessions of an agent work on it until it is verified and merged. Made by a Plan, or
    applied alone."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            named(40), *cel_rules(TASK_MOVES, TASK_INITIAL), kept_until_answered(), answered_once()
        ),
    }

    metadata: Metadata
    spec: TaskSpec
    status: TaskStatus = Field(default_factory=TaskStatus)


def parse(obj: dict[str, Any]) -> Task:
    """A Task as the API server serves it."""
    return Task.model_validate(obj)
