"""Project: what an administrator offers the Plans of a namespace."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from bernstein.api.approvals.policy import PROTECTED_PATHS, ApprovalPolicy
from bernstein.api.meta import (
    MOST_AGENTS,
    Conditions,
    CopiedLine,
    Image,
    Line,
    Metadata,
    Model,
    Money,
    Name,
    ObjectName,
    RelativePath,
    cel,
    list_map,
    named,
    rule,
    rules_of,
    words_of,
)
from bernstein.api.money import Dollars
from bernstein.api.projects.cache import CacheState
from bernstein.api.projects.closing import RequestClosing
from bernstein.api.projects.collecting import CollectTests
from bernstein.api.projects.credentials import (
    Attestation,
    JudgingModel,
    SecretKey,
)
from bernstein.api.projects.gates import Gates
from bernstein.api.projects.knowledge import MOST_KNOWLEDGE, Knowledge
from bernstein.api.projects.merge import Merge
from bernstein.api.projects.network import Network
from bernstein.api.projects.pods import PodSettings
from bernstein.api.projects.refs import RefPruning
from bernstein.api.projects.repository import MOST_REPOSITORIES, Repository
from bernstein.api.projects.retention import Retention
from bernstein.api.projects.setup import Setup
from bernstein.api.projects.subtasks import SubtaskLimits
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.signals import MOST_FILES
from bernstein.api.vocabulary import FileScope
from bernstein.api.waiting import Abandoned

_BYTES = "Whole Ki, Mi or Gi; Kubernetes' other units are refused."


def _at_least(least: str) -> dict[str, Any]:
    """JSON schema extension of a quantity."""
    enough = f"quantity(self).compareTo(quantity('{least}')) >= 0"
    # What is no quantity is the pattern's business.
    return cel((f"!isQuantity(self) || {enough}", f"at least {least}"))


class Resources(Model):
    """Limits of the container that runs the agent or the check. All of its memory is reserved,
    of CPU only a little, and no disk: what is not reserved is shared."""

    # The least CPU is what every such container requests: a limit below is refused. On less disk no
    # work is done.
    cpu: Annotated[
        str,
        Field(pattern=r"^[0-9]+(\.[0-9]+)?m?$", max_length=16, json_schema_extra=_at_least("50m")),
    ] = Field(default="500m", description="Cores, or thousandths with an m.")
    memory: Annotated[
        str,
        Field(pattern=r"^[0-9]+(Ki|Mi|Gi)$", max_length=16, json_schema_extra=_at_least("16Mi")),
    ] = Field(default="1Gi", description=_BYTES)
    ephemeral_storage: Annotated[
        str,
        Field(pattern=r"^[0-9]+(Ki|Mi|Gi)$", max_length=16, json_schema_extra=_at_least("64Mi")),
    ] = Field(
        default="2Gi", description=f"{_BYTES} Limits the volumes that the container writes to, too."
    )


class TierModels(Model):
    """The provider's name of each tier's model; a tier without one is called by its own name."""

    opus: Line | None = None
    """Model for what is hard."""
    sonnet: Line | None = None
    """Model for most work."""
    haiku: Line | None = None
    """Model for what is easy."""


class Agent(Model):
    """A coding agent that Plans may choose by `cli`."""

    model_config = {**Model.model_config, "json_schema_extra": rules_of("adapters")}

    name: Name
    """What steps call it by `cli`."""
    adapter: Annotated[str, Field(max_length=63, json_schema_extra=words_of("adapters"))]
    """Which CLI it is: how it is called and how its output is read."""
    image: Image
    """Image that holds the CLI, git and sh."""
    command: Annotated[
        tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=64)
    ] = ()
    """Program and arguments, for adapters that take one."""
    models: TierModels = Field(default_factory=TierModels)
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=2048)] | None = None
    """Address of the model's API; absent: the CLI's own."""
    api_key: SecretKey | None = None
    """Key of the model's API; the agent sees it."""
    config_map: ObjectName | None = Field(
        default=None, description="ConfigMap whose keys are files in /etc/agent."
    )
    resources: Resources = Field(default_factory=Resources)


class Toolchain(Model):
    """Where signals and gates that execute something run."""

    image: Image
    """Image that holds the project's tools: linter, test runner, compiler."""
    read_only_root_filesystem: bool = True
    """false: checks may write outside of the tree, HOME and /tmp."""
    resources: Resources = Field(default_factory=Resources)


class ScopeTimeouts(Model):
    """Seconds that one session may take, by the Task's scope."""

    small: Annotated[int, Field(ge=10, le=86400)] = 1800
    """Seconds."""
    medium: Annotated[int, Field(ge=10, le=86400)] = 5400
    """Seconds."""
    large: Annotated[int, Field(ge=10, le=172800)] = 10800
    """Seconds."""


class Limits(Model):
    max_agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] = 6
    """Agents that may work at the same time."""
    timeout_seconds: ScopeTimeouts = Field(default_factory=ScopeTimeouts)
    stall_seconds: Annotated[int, Field(ge=10, le=86400)] = 180
    """Seconds after which an agent is stopped that writes neither output nor files."""
    undeclared_files_exclusive: bool = Field(
        default=False,
        description="A step that declares no files runs alone, or beside those that declare none "
        "but files of appendOnly.",
    )
    subtasks: SubtaskLimits = Field(
        default_factory=SubtaskLimits, description="Into what a Task may be split."
    )
    models_usd_per_task: Dollars | None = Field(
        default=None,
        description="US dollars that models may cost which are asked about the work of one Task, "
        "over all its attempts: 5, '5.50' or '$5.50'. Absent: only the Plan's budget counts.",
    )


_PRICED = "Exact name, or a prefix of it; the longest match counts."


class CopiedPrice(Model):
    """US dollars per million tokens, where the operator copies them."""

    model: CopiedLine = Field(description=_PRICED)
    input: Money
    """US dollars for a million tokens that are read in full."""
    output: Money
    """US dollars for a million tokens that are written."""
    cache_read: Money = "0"
    """US dollars for a million tokens from the cache."""
    cache_write: Money = "0"
    """US dollars for a million tokens into the cache."""


class Price(CopiedPrice):
    """US dollars per million tokens."""

    model: Line = Field(description=_PRICED)


class Budget(Model):
    on_unpriced: Literal["allow", "deny"] = Field(
        default="allow",
        description="deny: with a budget, a model without a price and an agent that tells no "
        "tokens start no session.",
    )
    prices: Annotated[
        tuple[Price, ...], Field(max_length=100, json_schema_extra=list_map("model"))
    ] = ()
    """Count before the built-in prices."""


class ProjectSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": {
            **cel(
                rule(
                    "!has(self.defaultAgent) || self.agents.exists(a, a.name == self.defaultAgent)",
                    "defaultAgent is not one of agents",
                    fieldPath=".defaultAgent",
                ),
                rule(
                    "self.repositories.all(r, size(self.repositories.filter(o, o.url == r.url && "
                    "has(o.branch) == has(r.branch) && "
                    "(!has(o.branch) || o.branch == r.branch))) == 1)",
                    "two repositories have the same url and branch",
                    fieldPath=".repositories",
                ),
                rule(
                    "self.merge.strategy != 'pr' || self.repositories.all(r, has(r.forge))",
                    "merge.strategy pr opens pull requests: say where, in forge of the repository",
                    fieldPath=".merge.strategy",
                ),
                rule(
                    "self.merge.strategy == 'direct' || !has(self.merge.per)",
                    "only strategy direct takes 'merge.per': pull requests have 'pullRequest.per'",
                    fieldPath=".merge.per",
                    reason="FieldValueForbidden",
                ),
            ),
            **rules_of("models"),
        },
    }

    repositories: Annotated[
        tuple[Repository, ...],
        Field(min_length=1, max_length=MOST_REPOSITORIES, json_schema_extra=list_map("name")),
    ] = Field(
        description="Where the work comes from and goes to. Plans and Tasks that name none work in "
        "the first."
    )
    agents: Annotated[
        tuple[Agent, ...],
        Field(min_length=1, max_length=16, json_schema_extra=list_map("name")),
    ]
    """What steps may choose; the first is the default."""
    default_agent: Name | None = Field(
        default=None, description="Agent of steps that choose none; absent: the first."
    )
    knowledge: Annotated[
        tuple[Knowledge, ...],
        Field(max_length=MOST_KNOWLEDGE, json_schema_extra=list_map("name")),
    ] = ()
    """What every agent is told beside its Task; it is in the prompt in this order."""
    toolchain: Toolchain
    setup: Setup | None = None
    """Runs in a checkout before its agent, and before checks that run the work's own code."""
    gates: Gates = Field(default_factory=Gates)
    """What work must pass before it lands."""
    file_scope: FileScope | None = Field(
        default=None,
        description="What becomes of work that changes files beside those that its step declares. "
        "Warn: it is told, and is a high risk. Enforce: the work is rejected. Absent: nothing. A "
        "Plan may ask for more.",
    )
    append_only: Annotated[
        tuple[RelativePath, ...],
        Field(max_length=MOST_FILES, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = Field(
        default=(),
        description="Paths or globs of files that steps add to, such as a changelog: they keep no "
        "Task waiting, and with fileScope nothing that is there may change. Absent: none.",
    )
    protect_tests: bool = Field(
        default=False,
        description="true: work that deletes or weakens tests that existed before it is rejected: "
        "fewer tests, fewer assertions, more marks that skip. A Plan may ask for it, too.",
    )
    collect_tests: CollectTests = Field(default_factory=CollectTests)
    """Whether tests are also listed by what runs them."""
    models: Annotated[
        tuple[JudgingModel, ...], Field(max_length=8, json_schema_extra=list_map("name"))
    ] = ()
    """Language models that judge work where a signal or gate asks for one; the first, unless a gate
    names another."""
    merge: Merge
    """How verified work lands."""
    attestation: Attestation | None = Field(
        default=None,
        description="Signs what is said of every commit that lands. Absent: it is left unsigned.",
    )
    limits: Limits = Field(default_factory=Limits)
    """How much may run, and how long."""
    budget: Budget = Field(default_factory=Budget)
    """How money is counted."""
    retention: Retention = Field(default_factory=Retention)
    protected_paths: Annotated[
        tuple[RelativePath, ...],
        Field(max_length=100, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = Field(
        default=PROTECTED_PATHS,
        description="Files and folders whose change lands only once a person has approved it, as "
        "for paths of knowledge: a single name wherever it is, a path with a / from the root. "
        "Absent: settings of CI and of agents.",
    )
    approval: ApprovalPolicy = Field(default_factory=ApprovalPolicy)
    """When a person must say yes, beside all checks; a Plan may ask for more."""
    pods: PodSettings = Field(default_factory=PodSettings)
    """Settings of all pods."""
    network: Network = Field(default_factory=Network)

    def agent(self, name: str | None) -> Agent | None:
        """The agent of that name, else the only one of that adapter; without a name (or `auto`)
        the default one."""
        chosen = self.default_agent if name in (None, "auto") else name
        if chosen is None:
            return self.agents[0]
        named = next((a for a in self.agents if a.name == chosen), None)
        of_adapter = self.agents_of(chosen)
        return of_adapter[0] if named is None and len(of_adapter) == 1 else named

    def agents_of(self, adapter: str) -> tuple[Agent, ...]:
        return tuple(agent for agent in self.agents if agent.adapter == adapter)


class ProbeFinding(Model):
    """What is wrong with one credential."""

    subject: Annotated[str, Field(max_length=600)]
    """Which: read, work, deliver, or a model key."""
    reason: Annotated[str, Field(max_length=64)]
    """What is wrong, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=400)] = ""
    """What is wrong, for people."""


class Probe(Model):
    """How a Job of ours fares that tries the Project's credentials."""

    generation: int = Field(description="Generation of the Project that was tried last.")
    number: Annotated[int, Field(ge=0)] = Field(description="Number of the last Job.")
    at_work: bool = False
    """That Job has yet to tell."""
    settled: bool = False
    """Of this generation every credential was heard."""
    findings: Annotated[tuple[ProbeFinding, ...], Field(max_length=96)] = ()
    """What is wrong; empty: nothing, once all was heard."""
    tried_anew: bool = False
    """What was found was tried before its time, as something had gone well that speaks against it,
    and is still so."""
    too_strong: bool = False
    """A work account was seen to be allowed to push to its branch."""
    too_strong_in: Annotated[tuple[Name, ...], Field(max_length=MOST_REPOSITORIES)] = Field(
        default=(),
        description="In which repositories, by name, where the Project has several.",
    )
    silent: ProbeFinding | None = Field(
        default=None, description="Why the last Job could not tell everything."
    )
    failures: Annotated[int, Field(ge=0)] = Field(
        default=0, description="Jobs in a row that found something wrong, or could not tell."
    )
    until: datetime | None = Field(
        default=None,
        description="When it is tried again. Absent: when the Project changes, or something "
        "misses a Secret.",
    )
    abandoned: Abandoned | None = Field(
        default=None, description="Why the Job is being ended before it has told."
    )


class ProjectStatus(Model):
    observed_generation: int = -1
    """Generation that this status is about; -1: none yet."""
    conditions: Conditions = ()
    """Ready and warnings."""
    probe: Probe | None = None
    running: int = Field(default=0, ge=0, description="Sessions that run now.")
    watch: PullRequestWatch | None = None
    """Of older releases; see watches."""
    watches: Annotated[
        tuple[PullRequestWatch, ...],
        Field(
            max_length=MOST_REPOSITORIES,
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = Field(
        default=(),
        description="One for each repository with a pull request that a Plan waits for.",
    )
    refs: Annotated[
        tuple[RefPruning, ...],
        Field(
            max_length=MOST_REPOSITORIES,
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = Field(default=(), description="One for each repository with refs that are to be deleted.")

    closing: Annotated[
        tuple[RequestClosing, ...],
        Field(
            max_length=MOST_REPOSITORIES,
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = Field(
        default=(),
        description="One for each repository with pull requests of deleted Plans or Tasks.",
    )
    caches: Annotated[
        tuple[CacheState, ...],
        Field(
            max_length=MOST_REPOSITORIES,
            json_schema_extra={"x-kubernetes-list-type": "atomic"},
        ),
    ] = Field(default=(), description="One for each repository with a cache.")

    def watch_of(self, repository: str) -> PullRequestWatch | None:
        """Who watches the repository of this name; None: nobody does."""
        found = (watch for watch in self.watches if watch.repository == repository)
        return next(found, self.watch)

    def refs_in(self, repository: str) -> RefPruning | None:
        """What is known of refs to be deleted in the repository of this name; None: nothing."""
        return next((each for each in self.refs if each.repository == repository), None)

    def closing_in(self, repository: str) -> RequestClosing | None:
        """What is known of pull requests of what was deleted, in the repository of this name; None:
        nothing."""
        return next((each for each in self.closing if each.repository == repository), None)

    def cache_of(self, repository: str) -> CacheState | None:
        """What is known of the cache of the repository of this name; None: nothing."""
        return next((each for each in self.caches if each.repository == repository), None)


class Project(Model):
    """What an administrator offers the Plans and Tasks of a namespace: a repository, agents, gates
    and limits."""

    model_config = {**Model.model_config, "json_schema_extra": cel(named(63))}

    metadata: Metadata
    spec: ProjectSpec
    status: ProjectStatus = Field(default_factory=ProjectStatus)


def parse(obj: dict[str, Any]) -> Project:
    """A Project as the API server serves it."""
    return Project.model_validate(obj)
