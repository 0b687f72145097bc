"""What decisions look at: everything about one Task or one Plan, as the caches have it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import Any

from bernstein.api.approvals.approval import Approval
from bernstein.api.delivery import PullRequest
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import Resolves
from bernstein.api.project import Project
from bernstein.api.projects.workplace import Workplace
from bernstein.api.session import AgentSession
from bernstein.api.task import Task, TaskStatus
from bernstein.core import names, owners
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.documents.values import Json
from bernstein.core.gate_cache import GateCache
from bernstein.core.graph import Place
from bernstein.core.jobs import NO_LATE_REQUESTS, JobView, LateRequests
from bernstein.core.roles.known import BUILT_IN, Roles


@dataclass(frozen=True)
class Upstream:
    """Tasks that others depend on, in the Plan's order."""

    missing: str | None = None
    """Name of the first that does not exist."""
    ended: Task | None = None
    """The first that will never be Closed."""
    stuck: str | None = None
    """Name of the first that itself waits for what never comes."""
    stalled: Task | None = None
    """The first that needs a person."""
    waiting: tuple[str, ...] = ()
    """Names of those that are not Closed yet, where all may be."""


class Standing(Enum):
    """What a Task is to those that depend on it."""

    WAITED_FOR = "waited for"
    STUCK = "stuck"
    """It itself waits for what never comes."""
    STALLED = "stalled"
    """It needs a person."""
    CLOSED = "closed"
    ENDED = "ended"
    """It will never be Closed."""
    MISSING = "missing"


@dataclass
class Upstreams:
    """What was found so far of Tasks that others depend on: those that wait share it, so that each
    is looked at once, and not once for every Task that names it."""

    standings: dict[str, Standing] = field(default_factory=dict)
    """By the name of a Task of the namespace."""
    rows: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Names of the Tasks of each stage, by uid of the Plan."""
    stages: dict[str, dict[str, Upstream]] = field(default_factory=dict)
    """By uid of the Plan, then by stage."""
    circles: Mapping[str, Place] = field(default_factory=dict)
    """Of Tasks without a Plan that wait for each other."""


@dataclass(frozen=True)
class AtWork:
    """A Task that an agent works on, or whose work is judged or landed."""

    since: datetime
    """When its session was claimed."""
    name: str


@dataclass(frozen=True)
class Handed:
    """What a session has left as the subtasks of its Task."""

    document: bytes | None
    """None: it is lost."""


@dataclass(frozen=True)
class TaskSnapshot:
    """Everything that the decision about one Task looks at."""

    task: Task
    project: Workplace | None
    """With the Task's repository alone."""
    project_problem: Diagnosis | None = None
    """Why there is no Project, or none with that repository."""
    plan: Plan | None = None
    plan_tip: str | None = None
    """Where the Plan's integration ref is, as its ledger and Tasks that have landed since say it;
    None: nobody has read them. Known where the next step of one that is Done is decided."""
    session: AgentSession | None = None
    """The Task's current one."""
    own_sessions: Collection[AgentSession] = ()
    """All of the Task; known where its own next step is decided."""
    jobs: Mapping[str, JobView] = field(default_factory=dict)
    """Follow-up Jobs of this Task, by name."""
    late: LateRequests = NO_LATE_REQUESTS
    """Those for Jobs of its namespace; known where its own next step is decided."""
    late_claim: bool = False
    """It was claimed by a request of a process that led before, which was applied after another one
    led: its place may be another Task's."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """Every Task of the namespace, this one included, by name. What is asked for by name is there;
    to walk through all of it takes long, where thousands have ended."""
    going: Mapping[str, Task] | None = None
    """Those of them that go on, with all Tasks of Plans that do; None: nobody has sorted them."""
    dependants: Collection[Task] = ()
    """Those of them that name it in `dependsOn`, and go on; known where its own next step is
    decided."""
    plan_spend: Decimal = Decimal(0)
    """US dollars that its Plan has spent; known where a start is decided, and the Plan has a
    budget."""
    at_work: Sequence[AtWork] = ()
    """The Tasks of its Plan that are at work; known where a start is decided."""
    crowd: int = 0
    """How many Tasks of the Project wait for the same before a check can run, such as an image,
    where one before this one tries for all; 0: it tries itself. Known where its own next step is
    decided."""
    follows: datetime | None = None
    """From when on it tries beside that one, as a pod of the same check, or of a Job that moves
    refs, has begun since it failed; None: none has, or it tries at this moment. Known where its own
    next step is decided."""
    resting: int = 0
    """How many other Tasks of the Project wait to try again what moves refs, where a new pod alone
    shows whether it can; 0: it comes first of those that wait for the same, too. Known where its
    own next step is decided."""
    upstreams: Upstreams = field(default_factory=Upstreams)
    refused: str | None = None
    """Why the API server will not have its session."""
    plan_file: bytes | None = None
    """The plan file that its session left; None: it is lost, or nobody has read it. Known where its
    own next step is decided, and that asks for it."""
    gate_cache: GateCache | None = None
    """See Question; known where its own next step is decided."""
    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """Those that ask about this Task, by name; known where its own next step is decided."""
    roles: Roles = BUILT_IN
    """Those of its namespace."""
    handed: Handed | None = None
    """The subtasks that it is split into; None: nobody has read them, as they are not needed."""

    @property
    def status(self) -> TaskStatus:
        return self.task.status

    @property
    def generation(self) -> int:
        return self.task.metadata.generation

    def with_status(self, status: TaskStatus) -> TaskSnapshot:
        return replace(self, task=self.task.model_copy(update={"status": status}))

    def with_job(self, job: JobView) -> TaskSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> TaskSnapshot:
        return replace(self, refused=message)

    @property
    def beside(self) -> Mapping[str, Task]:
        """The Tasks of the namespace that may be walked through."""
        return self.tasks if self.going is None else self.going

    @property
    def plan_missing(self) -> bool:
        """The Task belongs to a Plan that is gone or being deleted."""
        return self.plan is None and owners.plan_of(self.task) is not None

    @property
    def resolves(self) -> Resolves | None:
        """The conflict that the Task is made for: its Plan says so, and nobody else."""
        rows = self.plan.status.resolvers if self.plan is not None else ()
        name, uid = self.task.metadata.name, self.task.metadata.uid
        return next((r.resolves for r in rows if r.name == name and r.uid in (None, uid)), None)

    @property
    def _answers(self) -> bool:
        """Whether the Task is made because of what was said: its Plan says so, and nobody else."""
        rows = self.plan.status.extra if self.plan is not None else ()
        name, uid = self.task.metadata.name, self.task.metadata.uid
        return any(r.answers and r.name == name and r.uid in (None, uid) for r in rows)

    @property
    def depth(self) -> int:
        """How often what it is a part of was split: 0 of a step's own Task. Its Plan says so."""
        rows = self.plan.status.extra if self.plan is not None else ()
        parents = {row.name: row.parent for row in rows if row.parent is not None}
        name, depth = self.task.metadata.name, 0
        while (parent := parents.pop(name, None)) is not None:
            name, depth = parent, depth + 1
        return depth

    def prefix_of_jobs(self, status: TaskStatus) -> str:
        """Its session; of one that was split without any, what that session would be called. "":
        neither."""
        if status.session is not None or status.split is None:
            return status.session or ""
        return names.session(self.task.metadata.name, status.split.number)

    @property
    def said(self) -> str:
        """What people and CI have said of the pull request that its work is for."""
        delivery = self.status.delivery
        if self._answers and self.plan is not None:
            delivery = self.plan.status.delivery
        feedback = delivery.feedback if delivery is not None else None
        return (feedback.text if feedback is not None else None) or ""

    @property
    def refs(self) -> str:
        """The folder of its refs: its Plan's, or its own."""
        if self.plan is not None:
            return names.folder(self._integration_ref(self.plan))
        return names.refs_of(self.task.metadata.uid)

    @property
    def delivers(self) -> bool:
        """Whether it brings its own work to the branch: it has no Plan that would."""
        begun = self.plan.status.integration if self.plan is not None else None
        return self.plan is None or (begun is not None and begun.per is not None)

    @property
    def target_ref(self) -> str:
        """Where its work lands: the Plan's integration ref, or the branch."""
        if self.plan is None:
            assert self.project is not None
            return names.branch_ref(self.project.spec.repository.branch)
        begun = self.plan.status.integration
        if begun is not None and self.delivers:
            return begun.target
        return self._integration_ref(self.plan)

    @staticmethod
    def _integration_ref(plan: Plan) -> str:
        begun = plan.status.integration
        return begun.ref if begun else names.integration_ref(plan.metadata.uid)


_TALLIED = (
    *("tasks", "counts", "current_stage", "usage"),
    *("integration", "repositories", "spend_usd", "spend_source", "settled"),
)
"""Fields of a Plan's status that its Tasks decide."""
_READ = ("tasks", "integration", "repositories", "spend_source", "settled", "expanded")
"""Fields of it that this is reckoned with."""


@dataclass(frozen=True)
class Tallied:
    """What the Tasks of a Plan come to together."""

    status: PlanStatus
    """The Plan's, brought up to date with that."""
    is_behind: bool
    """The caches show a Task as it was before a round of attempts that its row knows of."""
    has_new_round: bool
    """A Task was granted a round that its row does not know of."""
    outside: tuple[str, ...]
    """Names of Tasks that are Merged into the integration ref, but in no place of the ledger."""
    moving: int
    """How many go on by themselves."""
    waiting: int
    """How many of these only wait."""
    first: Task | None
    """The first of those that only wait: what keeps it back is what its Plan waits for."""


@dataclass(frozen=True)
class Expansion:
    """The Tasks that a Plan has, or is to have."""

    names: tuple[str, ...]
    """Of the Task of each step, in order."""
    repositories: tuple[str | None, ...]
    """Where each works, by the name in the Project; None: the Plan works in one alone."""
    missing: tuple[dict[str, Any], ...]
    """The objects of those that are not there yet, each after those that it depends on."""


@dataclass(frozen=True)
class PlanSnapshot:
    """Everything that the decision about one Plan looks at."""

    plan: Plan
    project: Project | None
    project_problem: Diagnosis | None = None
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """The Tasks of the Plan's steps, by name."""
    strangers: Mapping[str, Task] = field(default_factory=dict)
    """Tasks that name the Plan as their owner, but are of none of its steps."""
    sessions: Collection[AgentSession] = ()
    """Of its Tasks, deleted ones included."""
    jobs: Mapping[str, JobView] = field(default_factory=dict)
    """The Plan's own Jobs, by name."""
    late: LateRequests = NO_LATE_REQUESTS
    """Those for Jobs of its namespace."""
    refused: str | None = None
    """Why the API server will not have one of its Tasks."""
    gate_cache: GateCache | None = None
    """See Question."""
    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """Those that ask about this Plan, by name."""
    written_by: str | None = None
    """The Task whose agent wrote it, while it has not begun; None: people did."""
    roles: Roles = BUILT_IN
    """Those of its namespace."""
    resting: int = 0
    """How many other Plans of the Project wait to try one of their Jobs again, where a new pod
    alone shows whether it can; 0: it comes first of those that wait for the same, too."""
    follows: datetime | None = None
    """From when on it tries, as the pod of another such Job has begun since it failed."""
    tallied: Tallied | None = None
    """What its Tasks come to; None: nobody has reckoned yet."""
    expansion: Expansion | None = None
    """What Tasks it is to have; None: nobody has made them yet, or it has them."""
    outputs: Mapping[str, Json] = field(default_factory=dict)
    """Values that agents of its nodes left, and that are asked for now, by their SHA-256; null for
    those that are lost."""
    beside: Sequence[tuple[str, PullRequest | None]] = ()
    """Of a Plan as it is in one of its repositories: the others, each with its pull request."""

    @property
    def place(self) -> int | None:
        """In which of the Plan's repositories it is, where that is not the first."""
        begun = self.plan.status.integration
        return begun.place if begun is not None else None

    @property
    def job(self) -> names.JobNaming:
        """Names the Jobs of the Plan there."""
        return partial(names.plan_job, self.plan.metadata.name, place=self.place)

    @property
    def owned(self) -> Mapping[str, Task]:
        """All Tasks that name the Plan as their owner."""
        return {**self.tasks, **self.strangers} if self.strangers else self.tasks

    @property
    def status(self) -> PlanStatus:
        return self.plan.status

    @property
    def generation(self) -> int:
        return self.plan.metadata.generation

    def with_status(self, status: PlanStatus) -> PlanSnapshot:
        plan = self.plan.model_copy(update={"status": status})
        return replace(self, plan=plan, tallied=self.tallied_with(status))

    def tallied_with(self, status: PlanStatus) -> Tallied | None:
        """What its Tasks come to, in a status that may differ in what they have no part in."""
        before, tally = self.plan.status, self.tallied
        if tally is None or any(getattr(before, f) is not getattr(status, f) for f in _READ):
            return None
        told = {field: getattr(tally.status, field) for field in _TALLIED}
        return replace(tally, status=status.model_copy(update=told))

    def with_job(self, job: JobView) -> PlanSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> PlanSnapshot:
        return replace(self, refused=message)

    def at(self, project: Workplace | None) -> RepositorySnapshot:
        """What the decision about one of its repositories looks at."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return RepositorySnapshot(**{**told, "project": project})


@dataclass(frozen=True)
class RepositorySnapshot(PlanSnapshot):
    """The same of what a Plan does in one repository."""

    project: Workplace | None
