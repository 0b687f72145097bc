"""Project: what an administrator offers the Plans of a namespace."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from bernstein.api.meta import (
    MOST_AGENTS,
    Conditions,
    DataKey,
    Image,
    Line,
    Metadata,
    Model,
    Money,
    Name,
    ObjectName,
    cel,
    list_map,
    named,
    rule,
    rules_of,
    words_of,
)
from bernstein.api.network import Network
from bernstein.api.pod import OUR_JOBS
from bernstein.api.vocabulary import GateCondition


class SecretRef(Model):
    """A Secret of type kubernetes.io/basic-auth (keys `username`, `password`)."""

    secret_name: ObjectName


class ConfigMapKey(Model):
    name: ObjectName
    key: DataKey = "ca.crt"


class SecretKey(Model):
    name: ObjectName
    key: DataKey


class Credentials(Model):
    """Three accounts, so that a leak of one is not a leak of all."""

    read: SecretRef = Field(description="Fetches; used by every checkout.")
    work: SecretRef = Field(description="Pushes to refs/bernstein/ only; used by the pusher.")
    deliver: SecretRef = Field(description="Pushes verified work; used by merge Jobs only.")


class Repository(Model):
    name: Name
    url: Annotated[str, Field(pattern=r"^https://[^\s@]+$", max_length=2048)] = Field(
        description="https address without credentials."
    )
    branch: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][-A-Za-z0-9._/]*$",
            max_length=200,
            json_schema_extra=cel(
                (
                    "!self.contains('..') && !self.contains('//') && !self.contains('/.') && "
                    "!self.contains('.lock/') && !self.endsWith('.lock') && "
                    "!self.endsWith('.') && !self.endsWith('/')",
                    "git takes no branch with '..', '//', '/.' or '.lock/' in its name, or with "
                    "'.', '/' or '.lock' at its end",
                )
            ),
        ),
    ] = "main"
    credentials: Credentials
    ca: ConfigMapKey | None = Field(
        default=None,
        description="Certificate authority of the git server, when it is a private one.",
    )


_BYTES = "Whole Ki, Mi or Gi; Kubernetes' other units are refused."


def _at_least(least: str) -> dict[str, Any]:
    """JSON schema extension of a quantity."""
    enough = f"quantity(self).compareTo(quantity('{least}')) >= 0"
    # What is no quantity is the pattern's business.
    return cel((f"!isQuantity(self) || {enough}", f"at least {least}"))


class Resources(Model):
    """Limits of the container that runs the agent or the check. All of its memory is reserved; of
    CPU and disk only a little is, the rest is shared."""

    # The least CPU and disk is what every such container requests: a limit below is refused.
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
    sonnet: Line | None = None
    haiku: Line | None = None


class Agent(Model):
    """A coding agent that Plans may choose by `cli`."""

    model_config = {**Model.model_config, "json_schema_extra": rules_of("adapters")}

    name: Name
    adapter: Annotated[str, Field(max_length=63, json_schema_extra=words_of("adapters"))]
    image: Image
    command: Annotated[
        tuple[Annotated[str, Field(max_length=4096)], ...], Field(max_length=64)
    ] = ()
    models: TierModels = Field(default_factory=TierModels)
    base_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=2048)] | None = None
    api_key: SecretKey | None = None
    config_map: ObjectName | None = Field(
        default=None, description="ConfigMap whose keys are files in /etc/agent."
    )
    resources: Resources = Field(default_factory=Resources)


class Toolchain(Model):
    """Where signals and gates that execute something run."""

    image: Image
    read_only_root_filesystem: bool = True
    resources: Resources = Field(default_factory=Resources)


class GateSettings(Model):
    """Settings of a built-in gate, or a gate of the Project's own: a command in an image."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": {
            **cel(
                # The name of a gate's Job ends with the gate's name, '_' replaced by '-'. These
                # endings, and `signal-<number>`, are those of other Jobs.
                rule(
                    f"!(self.name in {list(OUR_JOBS)})",
                    f"the operator's own Jobs are called {', '.join(OUR_JOBS)}: "
                    "give the gate another name",
                    fieldPath=".name",
                ),
                rule(
                    "!self.name.matches('^signal_[0-9]+$')",
                    "signal_<number> is kept for completion signals: give the gate another name",
                    fieldPath=".name",
                ),
            ),
            **rules_of("gates"),
        },
    }

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=30)]
    enabled: bool = True
    required: bool | None = None
    condition: GateCondition | None = None
    command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    image: Image | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=86400)] | None = None


class Gates(Model):
    enabled: bool = True
    execution: Literal["Parallel", "Sequential"] = Field(
        default="Parallel",
        description="Parallel: all checks of a Task together, up to maxParallel. Sequential: its "
        "completion signals, then one gate after the other; a required one that does not pass is "
        "the last.",
    )
    max_parallel: Annotated[int, Field(ge=1, le=64)] = Field(
        default=8, description="Jobs that judge one Task at the same time."
    )
    timeout_seconds: Annotated[int, Field(ge=1, le=86400)] = 120
    pipeline: Annotated[
        tuple[GateSettings, ...], Field(max_length=32, json_schema_extra=list_map("name"))
    ] = ()


class Merge(Model):
    strategy: Literal["direct"] = Field(
        description="direct: verified work is pushed to the branch."
    )


class ScopeTimeouts(Model):
    """Seconds that one session may take, by the Task's scope."""

    small: Annotated[int, Field(ge=10, le=86400)] = 1800
    medium: Annotated[int, Field(ge=10, le=86400)] = 5400
    large: Annotated[int, Field(ge=10, le=172800)] = 10800


class Limits(Model):
    max_agents: Annotated[int, Field(ge=1, le=MOST_AGENTS)] = 6
    timeout_seconds: ScopeTimeouts = Field(default_factory=ScopeTimeouts)
    stall_seconds: Annotated[int, Field(ge=10, le=86400)] = 180
    undeclared_files_exclusive: bool = Field(
        default=False, description="A step that declares no files runs alone."
    )


class Price(Model):
    """US dollars per million tokens."""

    model: Line = Field(description="Exact name, or a prefix of it; the longest match counts.")
    input: Money
    output: Money
    cache_read: Money = "0"
    cache_write: Money = "0"


class Budget(Model):
    on_unpriced: Literal["allow", "deny"] = Field(
        default="allow",
        description="deny: with a budget, a model without a price starts no session.",
    )
    prices: Annotated[
        tuple[Price, ...], Field(max_length=100, json_schema_extra=list_map("model"))
    ] = ()


class PodSettings(Model):
    runtime_class_name: ObjectName | None = None
    image_pull_secrets: Annotated[tuple[ObjectName, ...], Field(max_length=8)] = ()


class ProjectSpec(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "!has(self.defaultAgent) || self.agents.exists(a, a.name == self.defaultAgent)",
                "defaultAgent is not one of agents",
                fieldPath=".defaultAgent",
            ),
        ),
    }

    repositories: Annotated[
        tuple[Repository, ...],
        Field(min_length=1, max_length=1, json_schema_extra=list_map("name")),
    ]
    agents: Annotated[
        tuple[Agent, ...],
        Field(min_length=1, max_length=16, json_schema_extra=list_map("name")),
    ]
    default_agent: Name | None = Field(
        default=None, description="Agent of steps that choose none; absent: the first."
    )
    toolchain: Toolchain
    gates: Gates = Field(default_factory=Gates)
    merge: Merge
    limits: Limits = Field(default_factory=Limits)
    budget: Budget = Field(default_factory=Budget)
    pods: PodSettings = Field(default_factory=PodSettings)
    network: Network = Field(default_factory=Network)

    @property
    def repository(self) -> Repository:
        return self.repositories[0]

    def agent(self, name: str | None) -> Agent | None:
        """The agent of that name; without a name (or `auto`) the default one."""
        chosen = self.default_agent if name in (None, "auto") else name
        if chosen is None:
            return self.agents[0]
        return next((a for a in self.agents if a.name == chosen), None)


class ProjectStatus(Model):
    observed_generation: int = -1
    conditions: Conditions = ()
    running: int = Field(default=0, ge=0, description="Sessions that run now.")


class Project(Model):
    model_config = {**Model.model_config, "json_schema_extra": cel(named(63))}

    metadata: Metadata
    spec: ProjectSpec
    status: ProjectStatus = Field(default_factory=ProjectStatus)


def parse(obj: dict[str, Any]) -> Project:
    """A Project as the API server serves it."""
    return Project.model_validate(obj)
