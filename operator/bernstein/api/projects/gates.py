"""What a Project says of its gates: which run, and how each one does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import (
    HttpsAddress,
    Image,
    Line,
    Model,
    RelativePath,
    cel,
    list_map,
    rule,
    rules_of,
)
from bernstein.api.pod import OUR_JOBS
from bernstein.api.programs.forge_jobs import LISTEN, PROPOSE
from bernstein.api.projects.credentials import ConfigMapKey
from bernstein.api.vocabulary import Severity, WrittenCondition

_OURS = (*OUR_JOBS, PROPOSE, LISTEN)


class WeaknessDatabase(Model):
    """Who is asked for known weaknesses."""

    url: HttpsAddress = Field(
        description="https address that answers as https://api.osv.dev/v1/query does, and beside "
        "it vulns/."
    )
    ca: ConfigMapKey | None = Field(
        default=None, description="Certificate authority of the address, when it is a private one."
    )


class GateSettings(Model):
    """Settings of a built-in gate, or a gate of the Project's own: a command in an image, or a
    class in Python."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": {
            **cel(
                # The name of a gate's Job ends with the gate's name, '_' replaced by '-'. These
                # endings, and `signal-<number>`, are those of other Jobs.
                rule(
                    f"!(self.name in {[*_OURS]})",
                    f"the operator's own Jobs are called {', '.join(_OURS)}: "
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
    """A built-in gate, or a new name."""
    enabled: bool = True
    """false: it does not run."""
    required: bool | None = None
    """false: its verdict is shown and keeps nothing back; absent: as the gate or its class says."""
    condition: WrittenCondition | None = None
    """Changes that it runs for; absent: as the gate or its class says, any_changed for an own
    command."""
    paths: Annotated[
        tuple[RelativePath, ...],
        Field(max_length=16, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = Field(
        default=(),
        description="Globs: it runs only where one matches the path of a file that was added, "
        "edited or deleted; ** spans folders.",
    )
    command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Shell command that passes with exit code 0."""
    plugin: Literal["Python"] | None = None
    """Python: the gate is a class of this name, in .bernstein/gates/*.py of the commit that the
    Plan started from, or an entry point of the image; absent: it is a command."""
    image: Image | None = None
    """Where the command runs; absent: the toolchain's image."""
    timeout_seconds: Annotated[int, Field(ge=1, le=86400)] | None = None
    """How long the command may take, in seconds; absent: gates.timeoutSeconds."""
    severity: Severity | None = None
    """Findings of this severity and above count; absent: high."""
    database: WeaknessDatabase | None = Field(
        default=None,
        description="Who is asked for known weaknesses; absent: whom the image names, or osv.dev. "
        "network.checks has to let checks connect to it.",
    )
    tolerance: Annotated[float, Field(ge=0, le=1000)] | None = None
    """How much worse than on the base a measure may be, in per cent; absent: as the gate says."""
    minimum_score: Annotated[float, Field(ge=0, le=10)] | None = Field(
        default=None,
        description="Share of the faults put into code that tests must notice, or points of 10 "
        "that a model must give; absent: as the gate says.",
    )
    model: Line | None = None
    """Which of the Project's models is asked; absent: the first."""
    block_on_no: bool | None = None
    """false: what the model answers is shown and keeps nothing back; absent: true."""


class CrossModel(Model):
    """A review of each change by models of other makers than the one that has written it."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                # The default of the whole object is looked at before those of its fields are set.
                "!has(self.quorum) || self.quorum <= 1 || self.quorum <= size(self.reviewers)",
                "'quorum' is at most the number of reviewers",
                fieldPath=".quorum",
            )
        ),
    }

    enabled: bool = False
    """true: no change lands that the reviewers have not looked at."""
    reviewers: Annotated[
        tuple[Line, ...],
        Field(max_length=8, json_schema_extra={"x-kubernetes-list-type": "set"}),
    ] = Field(
        default=(),
        description="Which of the Project's models review, by their names; absent or empty: one, "
        "chosen by who has written the change.",
    )
    quorum: Annotated[int, Field(ge=1, le=8)] = 1
    """How many of them have to approve."""
    on_issues: Literal["Block", "Report"] = Field(
        default="Block",
        description="Block: work lands only with their approval, and the next attempt gets their "
        "comments. Report: what they say is shown and keeps nothing back.",
    )
    max_diff_characters: Annotated[int, Field(ge=1000, le=60_000)] = Field(
        default=12_000,
        description="Characters of the change that they are shown; with more of them approving is "
        "left to a person.",
    )
    max_tokens: Annotated[int, Field(ge=64, le=2048)] = 512
    """Tokens that each of them may answer with."""


class Gates(Model):
    enabled: bool = True
    """false: no gate runs; completion signals still do."""
    execution: Literal["Parallel", "Sequential"] = "Parallel"
    """Parallel: all checks of a Task together, up to maxParallel. Sequential: signals and what only
    reads or asks a model, then one gate after the other up to a required one that fails."""
    max_parallel: Annotated[int, Field(ge=1, le=64)] = 8
    """Jobs that judge one Task at the same time."""
    timeout_seconds: Annotated[int, Field(ge=1, le=86400)] = 120
    """How long a gate may take, in seconds."""
    allow_base_failures: bool = Field(
        default=False,
        description="true: a required gate that fails on the base, too, keeps no work back.",
    )
    allow_bypass: bool = Field(
        default=False,
        description="true: a person may let work go on without a required gate that has said no; "
        "people are asked before work fails for good because of gates alone.",
    )
    cache_enabled: bool = Field(
        default=True,
        description="false: every gate runs each time that work is judged; true: not where its "
        "verdict on the same tree is known.",
    )
    cross_model: CrossModel = Field(default_factory=CrossModel)
    extends: Literal["Default"] | None = Field(
        default=None,
        description="Default: the built-in gates that are on by default come first, with the "
        "settings that pipeline has for them.",
    )
    pipeline: Annotated[
        tuple[GateSettings, ...], Field(max_length=32, json_schema_extra=list_map("name"))
    ] = ()
    """The gates that run, complete and in this order, with lint_suppression before an enabled lint
    or type_check unless it is named; absent or empty: those that are on by default."""
