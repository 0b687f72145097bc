"""Plan: a graph of steps that becomes Tasks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from bernstein.api.approvals.approval import APPROVE, AskedApproval
from bernstein.api.approvals.policy import ApprovalPolicy, only_stricter
from bernstein.api.delivery import Delivery
from bernstein.api.integration import MOST_PLAN_REPOSITORIES, Integration, RepositoryStatus
from bernstein.api.meta import (
    MOST_AGENTS,
    TAKEN_OVER,
    Conditions,
    CopiedLine,
    Leader,
    Line,
    Metadata,
    Model,
    Money,
    ObjectName,
    Sha,
    Text,
    UsageCounts,
    UserName,
    cel,
    immutable_spec_except,
    list_map,
    named,
    one_way,
    rule,
)
from bernstein.api.money import Dollars
from bernstein.api.older import WithWaiting
from bernstein.api.plans.parts import Part, Parts
from bernstein.api.plans.rows import MAX_ROWS, PlanTask, Settled
from bernstein.api.plans.workflow import Node, Workflow, WorkflowStatus
from bernstein.api.projects.repository import RepositoryPath
from bernstein.api.requests import Answers, PlanRequests, answered_once, kept_until_answered
from bernstein.api.signals import Assignment, Constraints, Files
from bernstein.api.verification import Verification
from bernstein.api.vocabulary import FileScope, PlanMerge
from bernstein.api.waiting import Abandoned, Cancel

DELIVERED_PARTIALLY = "DeliveredPartially"
"""Phase of a Plan of which a part was delivered, and reason why it has not succeeded."""
MAX_STAGES = 40
MAX_STEPS = 50
"""Of a stage."""


SPLIT_CHANGES = rule(
    "!has(self.subtasks) || !has(self.changes)",
    "what is split is expected to change something: its subtasks do",
    fieldPath=".subtasks",
)


class Step(Assignment):
    model_config = {
        **Assignment.model_config,
        "json_schema_extra": cel(
            ("has(self.title) || has(self.goal)", "step must have a 'title' or 'goal' field"),
            (
                "!(has(self.title) && has(self.goal))",
                "'title' and 'goal' are the same field: give one of them",
            ),
            SPLIT_CHANGES,
        ),
    }

    title: Line | None = None
    """What is to be done, in one line; once in a Plan."""
    goal: Line | None = Field(default=None, description="Older name of title.")
    repo: Line | None = Field(
        default=None,
        description="Which of the Plan's repos it works in. Absent: that of its stage.",
    )
    depends_on_repo: Line | None = Field(
        default=None,
        description="Another of the Plan's repos, of which all steps must be Closed first.",
    )
    subtasks: Parts = Field(
        default=(),
        exclude_if=lambda parts: not parts,
        description="What it is split into before anybody works on it: Tasks of the Plan that do "
        "it, in its place. Absent: an agent does it.",
    )

    @property
    def parts(self) -> tuple[Step, ...]:
        """Its subtasks as steps: what they do not say is what it says."""
        return tuple(self.model_copy(update=_of_part(part)) for part in self.subtasks)

    @property
    def heading(self) -> str:
        return self.title or self.goal or ""


def _of_part(part: Part) -> dict[str, Any]:
    """The fields in which a subtask, as a step, is not what is split into it."""
    own = {name: getattr(part, name) for name in Part.model_fields}
    optional = ("priority", "files", "completion_signals")
    said = {name: value for name, value in own.items() if value or name not in optional}
    return {**said, "goal": None, "subtasks": ()}


class Stage(Model):
    name: Line
    """Other stages name it in dependsOn."""
    description: Text | None = None
    """What the stage is for; told to its agents."""
    depends_on: Annotated[tuple[Line, ...], Field(max_length=MAX_STAGES)] | None = Field(
        default=None, description="Stages that come first; absent: the stage before; []: none."
    )
    repo: Line | None = Field(
        default=None,
        description="Which of the Plan's repos its steps work in. Absent: the first.",
    )
    steps: Annotated[tuple[Step, ...], Field(min_length=1, max_length=MAX_STEPS)]
    """Done side by side, as far as files and limits allow."""


class PlanRepository(Model):
    """A repository of the Project that the Plan works in."""

    path: RepositoryPath
    """Its name in the Project, or its url there."""
    branch: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="The branch that the Project says for it. Where the Project has the url with "
        "several branches, it chooses one of them.",
    )
    name: Line | None = Field(
        default=None, description="What its stages and steps call it; absent: its path."
    )

    @property
    def called(self) -> str:
        return (self.name or "").strip() or self.path


class PlanSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            one_way("cancel"),
            ("has(self.stages) != has(self.workflow)", "give either 'stages' or 'workflow'"),
        ),
    }

    name: Line = Field(description="What the plan is for; told to every agent as the goal.")
    description: Text | None = None
    """More about it, for people; agents are not told."""
    project_ref: ObjectName | None = Field(
        default=None, description="Absent: the only Project of the namespace, or `default`."
    )
    cli: Line | None = Field(default=None, description="Agent of steps that choose none.")
    budget: Dollars | None = Field(
        default=None,
        description="US dollars: 5, '5.50' or '$5.50'; a number with a point needs quotes. 0: no "
        "session starts. Absent: no limit.",
    )
    max_agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] | None = None
    """Agents that may work for it at the same time; the Project's limit counts, too."""
    constraints: Constraints = ()
    """What every agent must keep to."""
    context_files: Files = Field(default=(), description="Files named to every agent as context.")
    repos: Annotated[tuple[PlanRepository, ...], Field(max_length=MOST_PLAN_REPOSITORIES)] = Field(
        default=(),
        description="Repositories of the Project that it works in; steps that name none work in "
        "the first. Absent: the first of the Project.",
    )
    stages: Annotated[
        tuple[Stage, ...],
        Field(
            max_length=MAX_STAGES,
            json_schema_extra={**list_map("name"), "minItems": 1},
            exclude_if=lambda stages: not stages,
        ),
    ] = ()
    """One after the other, unless dependsOn says otherwise."""
    workflow: Workflow | None = Field(
        default=None,
        description="Nodes with conditions and loops, in place of stages.",
    )
    approval: ApprovalPolicy | None = Field(
        default=None,
        description="When a person must say yes, beside what the Project asks for. It may only "
        "become stricter.",
    )
    file_scope: FileScope | None = Field(
        default=None,
        description="What becomes of work that changes files beside those that its step declares, "
        "where the Project asks for less. Warn: it is told, and is a high risk. Enforce: the work "
        "is rejected.",
    )
    protect_tests: bool = Field(
        default=False,
        description="true: work that deletes or weakens tests that existed before it is rejected, "
        "whatever the Project says.",
    )
    merge: PlanMerge | None = Field(
        default=None,
        description="pr: what the Plan delivers goes to a pull request, also where the Project's "
        "merge.strategy is direct; the repository needs a forge. Absent: as the Project says.",
    )
    author: UserName | None = Field(
        default=None,
        description="Who made the Plan, or stands for it: the user's own name, or it is refused. "
        "Written once, also later.",
    )
    suspend: bool = Field(default=False, description="true: no new session starts.")
    cancel: Cancel | None = None
    """Ends the Plan for good; agents get time to save their work."""
    requests: PlanRequests = ()
    """What is asked of it beside its work; answered once, in status.requests."""

    @property
    def work(self) -> Iterator[Work]:
        """Each step of its stages, or node of its workflow, in order."""
        for s, stage in enumerate(self.stages):
            for n, step in enumerate(stage.steps):
                yield Work(f"stages[{s}].steps[{n}]", stage.name, step.repo or stage.repo, step)
        for node in self.workflow.nodes if self.workflow is not None else ():
            yield Work(f"nodes.{node.name}", node.phase, node.repo, node)

    @property
    def assigned(self) -> Iterator[Work]:
        """What agents do of it: the same, but the subtasks of a step that is split in its place."""
        for work in self.work:
            parts = work.given.parts if isinstance(work.given, Step) else ()
            if not parts:
                yield work
            for n, part in enumerate(parts):
                yield work._replace(path=f"{work.path}.subtasks[{n}]", given=part)


class Work(NamedTuple):
    """A piece of a Plan's work: a step, or a node."""

    path: str
    """Its place in a plan file."""
    stage: str
    """Stage, or phase, that it belongs to."""
    repo: str | None
    """Which of the Plan's repos it works in; None: the first."""
    given: Step | Node


class Counts(Model):
    total: int = 0
    """All Tasks. Of a workflow its nodes, but for those that are skipped: each as its last run."""
    open: int = 0
    """Tasks that wait."""
    running: int = 0
    """Tasks whose agent works."""
    verifying: int = 0
    """Tasks whose work is being verified or lands."""
    closed: int = 0
    """Tasks whose work has landed."""
    failed: int = 0
    """Tasks without a retry left."""
    cancelled: int = 0
    """Tasks that were cancelled."""


class Estimate(Model):
    minutes: int = Field(description="Along the critical path.")
    cost_usd: Money | None = None
    """US dollars, by the price of the models; absent: a price is unknown."""
    basis: Annotated[str, Field(max_length=200)]
    """What it was reckoned from."""


class PartialDelivery(Model):
    """What is Closed of a Plan is delivered without the rest, because somebody asked for it."""

    request: Annotated[str, Field(max_length=63)]
    """Id of the request; it is answered with the end."""
    after: Annotated[str, Field(max_length=32)]
    """The Plan's phase before: Failed or Cancelled, where it had ended, or Stalled."""
    tip: Sha | None = Field(
        default=None,
        description="Landing up to which it is delivered. Absent: other Tasks are still ended.",
    )


ASKS, NEXT = "Asks", "Next"
"""How far a Plan is with its turn to begin."""


class PlanStatus(WithWaiting):
    observed_generation: int = -1
    """Generation that this status is about; -1: none yet."""
    conditions: Conditions = ()
    """Validated, Reconciling, Stalled, Suspended, Succeeded and others."""
    phase: Annotated[str, Field(max_length=32)] | None = Field(
        default=None, description="Pending, Running, Suspended, Delivering, Succeeded, Failed, ..."
    )
    current_stage: CopiedLine | None = None
    """First stage that is not done."""
    project: ObjectName | None = None
    """Project that it belongs to."""
    project_uid: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Of that Project, from the start on: another one of its name is not meant.",
    )
    counts: Counts = Field(default_factory=Counts)
    """Its Tasks by state."""
    # As a map it would cost the API server an entry of managedFields for each field of each row.
    tasks: Annotated[
        tuple[PlanTask, ...],
        Field(
            max_length=MAX_ROWS,
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = Field(default=(), description="One for each step, in the Plan's order.")
    requests: Answers | None = None
    """Answers to requests, the oldest first."""
    approval: AskedApproval | None = None
    expanded: bool = Field(default=False, description="All Tasks were made; none is made again.")
    usage: UsageCounts = Field(default_factory=UsageCounts)
    spend_usd: Money = "0"
    """US dollars that all sessions have cost so far."""
    spend_source: Literal["Unpriced", "Unreported"] | None = Field(
        default=None,
        description="Why spendUsd is not all of it, as of a Task. Absent: all is Reported.",
    )
    settled: Settled | None = None
    estimate: Estimate | None = None
    """Time and money that it may take, reckoned before it began."""
    integration: Integration | None = None
    beginning: Annotated[str, Field(max_length=16)] | None = Field(
        default=None,
        description="Asks: it waits for one of the Project's turns to begin. Next: it has one.",
    )
    jobs: int = Field(default=0, description="Jobs of this Plan so far; numbers their names.")
    abandoned: Abandoned | None = Field(
        default=None,
        description="Why the pod of the Job that makes the integration ref is being ended.",
    )
    infrastructure_failures: int = 0
    """Jobs in a row that failed through nobody's fault."""
    gate_errors: int = 0
    """Rounds of checks in a row that could not run."""
    reports: int = Field(
        default=0,
        description="Logs of checks that are kept: ConfigMaps made of what failed checks printed.",
    )
    verification: Verification | None = None
    delivery: Delivery | None = None
    repositories: Annotated[
        tuple[RepositoryStatus, ...], Field(max_length=MOST_PLAN_REPOSITORIES)
    ] = Field(
        default=(),
        exclude_if=lambda rows: not rows,
        description="How far it is in each repository, where it works in several: integration, "
        "verification and delivery above are then those of the one that keeps it back. Absent: "
        "it works in one.",
    )
    partial: PartialDelivery | None = None
    workflow: WorkflowStatus | None = None
    started_at: datetime | None = None
    """When it was looked at first."""
    ended_at: datetime | None = None
    """When it ended, well or not."""
    leader: Leader | None = Field(default=None, description=TAKEN_OVER)

    @property
    def is_mapped(self) -> bool:
        """Whether rows say what they are of: there is one for each step, or for each run of a node
        so far. Older releases had them in any order."""
        if self.workflow is not None:
            return True
        return bool(self.tasks) and self.tasks[0].step is not None

    @property
    def asked(self) -> tuple[AskedApproval, ...]:
        """What people were asked: whether it may begin, and whether phases of its workflow may."""
        own = () if self.approval is None else (self.approval,)
        phases = self.workflow.phases if self.workflow is not None else ()
        return (*own, *(phase.approval for phase in phases))

    @property
    def rejected(self) -> AskedApproval | None:
        """The first of it to which somebody has said no, or nobody yes in time."""
        return next((a for a in self.asked if a.decision not in (None, APPROVE)), None)

    @property
    def resolvers(self) -> tuple[PlanTask, ...]:
        """The rows of Tasks that are made to resolve conflicts, the first one first: they stand
        behind all others."""
        return tuple(row for row in self.extra if row.resolves is not None)

    @property
    def extra(self) -> tuple[PlanTask, ...]:
        """The rows of Tasks that are of no step: made since, or subtasks."""
        found: list[PlanTask] = []
        for row in reversed(self.tasks):
            if row.resolves is None and row.answers is None and row.parent is None:
                break
            found.append(row)
        return tuple(reversed(found))


CHANGEABLE = ("approval", "budget", "cancel", "maxAgents", "requests", "suspend")
"""Fields of a spec that may be changed while the Plan runs."""
_NEVER_RAN = (
    "has(oldSelf.status) && has(oldSelf.status.phase) && oldSelf.status.phase == 'Invalid'"
    " && !(has(oldSelf.status.expanded) && oldSelf.status.expanded)"
)
"""CEL: it was refused before anything was made of it, so that it may be corrected."""


class Plan(Model):
    """Work for agents: stages of steps. Each step becomes a Task; what these land is delivered as a
    whole."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            named(63),
            kept_until_answered(),
            answered_once(),
            *only_stricter(),
            *immutable_spec_except(
                *CHANGEABLE,
                spec=PlanSpec,
                unless=_NEVER_RAN,
                once=("author",),
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
