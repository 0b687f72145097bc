"""What is judged and how it was judged, of a Task and of a Plan alike."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import (
    Model,
    Money,
    ObjectName,
    ProtectedPath,
    Sha,
    UsageCounts,
    UserName,
    list_map,
)
from bernstein.api.money import CallSource
from bernstein.api.waiting import Abandoned

MOST_CHECKS = 256
"""That judge one tree: for a Plan's as a whole these are all gates and the signals of all Tasks."""

VerdictWord = Literal["Passed", "Failed", "Skipped", "Errored", "TimedOut", "Bypassed"]
ImageDigest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$", max_length=71)]


class Bypass(Model):
    """Who has let this commit go on without the yes of a gate, and why."""

    by: UserName
    """Who has decided that."""
    reason: Annotated[str, Field(max_length=1024)]
    """Why, in his words."""
    approval: ObjectName
    """Name of the Approval that asked for it."""
    verdict: Annotated[str, Field(max_length=16)]
    """What the gate had said: Failed or TimedOut."""
    time: datetime
    """When that was acted upon."""


class CheckResult(Model):
    """The verdict of one completion signal or gate."""

    name: Annotated[str, Field(max_length=63)]
    """`signal-` and its index, or the gate's name."""
    kind: Literal["signal", "gate"]
    """Whether it belongs to the step or to the Project."""
    title: Annotated[str, Field(max_length=300)] = ""
    """What it asks, for people."""
    required: bool = True
    """Whether work that does not pass it is kept back."""
    asked: Annotated[str, Field(max_length=32)] = Field(
        default="", description="Digest that names the check as it was when it was judged."
    )
    verdict: VerdictWord
    """Passed, Bypassed, or Skipped because its condition is not met, lets the work on."""
    reason: Annotated[str, Field(max_length=64)] = ""
    """Why, in one word, where it did not pass, or not in all."""
    excused: bool | None = Field(
        default=None,
        description="It fails on the base, too, and the Project lets work on all the same.",
    )
    bypass: Bypass | None = Field(
        default=None, description="Of a gate that is Bypassed: who has decided so, and why."
    )
    by_model: bool | None = Field(
        default=None, description="A language model has answered, or was to answer."
    )
    cached: bool | None = Field(
        default=None,
        description="It was not run: its verdict on the same tree was known, which `seconds`, "
        "`image` and `endedAt` are of.",
    )
    excerpt: Annotated[str, Field(max_length=2048)] = ""
    """End of what it printed, or what it found."""
    seconds: int | None = Field(default=None, description="That a command took; whole seconds.")
    image: ImageDigest | None = Field(
        default=None,
        description="Digest of the image that it ran in, a command's or ours, by its node's word.",
    )
    ended_at: datetime | None = Field(
        default=None, description="When it was over, by its node's word."
    )


class AbandonedCheck(Abandoned):
    """A check whose pod is being ended."""

    check: Annotated[str, Field(max_length=63)]
    """Name of the check."""


class CheckAgain(Model):
    """A check that could not run, and that is run again."""

    check: Annotated[str, Field(max_length=63)]
    """Name of the check."""
    round: int = Field(description="Round of checks that its Job is of.")
    suspected: bool | None = None
    """What kept it from judging this tree may have been the work's doing: the next time counts."""


class Origin(Model):
    """The commit that a candidate is made of; its ref is a session's own."""

    ref: Annotated[str, Field(max_length=300)]
    """Ref that the session pushed to."""
    sha: Sha
    """Commit that it left there."""


class Formatting(Model):
    """What came of `auto_format`, before the work was judged."""

    verdict: VerdictWord | None = Field(
        default=None, description="Absent: its Job is wanted, or at work."
    )
    reason: Annotated[str, Field(max_length=64)] = ""
    """Why, in one word, where nothing was formatted that could have been."""
    excerpt: Annotated[str, Field(max_length=2048)] = ""
    """What was formatted, and what formatters printed."""
    seconds: int | None = Field(default=None, description="That formatters took; whole seconds.")
    image: ImageDigest | None = Field(
        default=None, description="Digest of the image that they ran in, by its node's word."
    )
    ended_at: datetime | None = Field(
        default=None, description="When they were done, by its node's word."
    )
    work: Origin | None = Field(
        default=None,
        description="What the session left. Absent: that is judged itself, as nothing was "
        "formatted.",
    )
    abandoned: Abandoned | None = Field(
        default=None, description="Why its Job is given up, while that has not ended."
    )


class RejectedWork(Model):
    """What an attempt left that was rejected."""

    ref: Annotated[str, Field(max_length=300)]
    """Ref that its session pushed to."""
    sha: Sha
    """Commit that it left there."""


class ChangedFile(Model):
    """How many lines of a file are new, and how many are gone."""

    path: ProtectedPath
    """Its path, cut."""
    added: int | None = Field(
        default=None, description="Lines that are new. Absent: no text, or too much to count."
    )
    deleted: int | None = None
    """Lines that are gone."""


MOST_FILES = 8
MostChanged = Annotated[tuple[ChangedFile, ...], Field(max_length=MOST_FILES)]
"""Some of the files that differ, those with the most changed lines first."""


MOST_CALLS = 64


class ModelCalls(Model):
    """What one Job has used of a model that it asked."""

    job: Annotated[str, Field(max_length=63)]
    """Name of the Job."""
    model: Annotated[str, Field(max_length=300)]
    """The provider's name of the model."""
    usage: UsageCounts
    exact: bool = Field(
        default=True,
        description="false: of some request only the most is known that it can have used.",
    )
    spend_usd: Money = "0"
    """US dollars that it cost."""
    source: CallSource | None = Field(
        default=None,
        description="Computed: tokens times the price of a table. Unpriced: the model has none, "
        "and nothing is counted. Absent: it is in no sum yet.",
    )


class WrittenTest(Model):
    """A test that a model has written for a gate, which runs it."""

    check: Annotated[str, Field(max_length=63)]
    """Name of the gate."""
    asked: Annotated[str, Field(max_length=32)]
    """Digest that names the gate as it was when it was written."""
    test: Annotated[str, Field(max_length=3200)]
    """The file: deflated, as base64."""


class HeardModel(Model):
    """What one of several models that are asked the same has answered, while another one could
    not."""

    asked: Annotated[str, Field(max_length=32)]
    """Digest that names the questions of its Job."""
    model: Annotated[str, Field(max_length=300)]
    """The provider's name of the model."""
    verdict: Literal["Passed", "Failed", "Skipped"]
    """What follows from its own answer."""
    reason: Annotated[str, Field(max_length=64)] = ""
    """Why, in one word, where it has not approved."""
    excerpt: Annotated[str, Field(max_length=2048)] = ""
    """What it has said, cut."""


class Outstanding(Model):
    """Which checks have no verdict yet; told where a round takes long, once a minute at most."""

    checks: Annotated[str, Field(max_length=300)]
    """The first of them, and how many more there are."""
    told: datetime
    """When that was so."""


class Verification(Model):
    """What is judged, and how it was judged."""

    round: int = Field(
        default=0,
        description="Round of checks that is judged by, from 0; the names of its Jobs have it. A "
        "Task's rounds of attempts are in `status.round`.",
    )
    first_round: int | None = Field(
        default=None, description="Round of checks that was the first on this tree. Absent: 0."
    )
    since: int | None = Field(
        default=None,
        description="No time: the round of checks that the Jobs are of whose checks are not in "
        "`again`. Absent: `round`.",
    )
    again: (
        Annotated[
            tuple[CheckAgain, ...],
            Field(max_length=2 * MOST_CHECKS, json_schema_extra=list_map("check")),
        ]
        | None
    ) = Field(
        default=None,
        description="Checks that could not run and are run again; the verdicts of all others stay. "
        "Empty: those that are there were known before. Absent: all are asked in this round.",
    )
    uncached: bool | None = Field(
        default=None,
        description="A request asks to judge it anew: no verdict that was known before counts.",
    )
    base: Sha
    """Commit that the work is compared with."""
    sha: Sha
    """Commit that is judged."""
    tree: Annotated[str, Field(max_length=64)]
    """Tree that is judged; this one lands, or none."""
    ref: Annotated[str, Field(max_length=300)]
    """Where the commit is."""
    candidate: bool = Field(
        default=False, description="Made on a newer tip than the agent worked on."
    )
    origin: Origin | None = Field(
        default=None, description="What the candidate was made of; another one is made of it, too."
    )
    formatting: Formatting | None = Field(
        default=None,
        description="Whether the work was formatted first. Absent: the Project did not ask for "
        "that when the agent ended.",
    )
    lost: bool | None = Field(
        default=None,
        description="What was judged is not at its ref any more, or stands on a base that fails, "
        "too: a candidate is made anew, on the tip of now.",
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
    policy: Annotated[str, Field(max_length=64)] | None = Field(
        default=None,
        description="Digest of the checks that judge it: all verdicts of a round are under one.",
    )
    out_of_memory: bool = Field(
        default=False, description="A check ran out of memory, and all were run once more."
    )
    abandoned: (
        Annotated[
            tuple[AbandonedCheck, ...],
            Field(max_length=MOST_CHECKS, json_schema_extra=list_map("check")),
        ]
        | None
    ) = Field(default=None, description="Checks of this round whose pods are being ended, and why.")
    outstanding: Outstanding | None = Field(
        default=None, description="Checks without a verdict, where the round takes long."
    )
    too_little_usd: Money | None = Field(
        default=None,
        description="US dollars that were left for a model that could not be asked within them; "
        "with more it is asked again.",
    )
    heard: Annotated[tuple[HeardModel, ...], Field(max_length=8)] | None = Field(
        default=None,
        description="What some of several models have answered that others could not yet: they "
        "are not asked again.",
    )
    written: WrittenTest | None = Field(
        default=None, description="The test that a model has written for it."
    )
    calls: Annotated[tuple[ModelCalls, ...], Field(max_length=MOST_CALLS)] | None = Field(
        default=None, description="What was used of models that were asked about it."
    )
    passed: bool | None = None
    """Whether every required check let it on; absent while it is judged."""
    verified_at: datetime | None = Field(
        default=None, description="When that was found, where all let it on."
    )
    digest: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="SHA-256 of what was judged and every verdict."
    )
    quality_score: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=None,
        description="Part of the weights of the gates that ran that those have which passed, in "
        "percent. Absent: none ran that has a weight.",
    )
    checks: Annotated[
        tuple[CheckResult, ...], Field(max_length=MOST_CHECKS, json_schema_extra=list_map("name"))
    ] = ()
    """The verdict of every check, in order."""
