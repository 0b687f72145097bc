"""Why something waits, and how it is cancelled."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model, Reasoning, UserName

BY_USER = "Cancelled by user"
LONGEST_MESSAGE = 4096
"""Of what is waited for; the same as a condition's."""


class Cancel(Model):
    reason: Reasoning = BY_USER
    """Why, for people; kept with everything that ends by it."""
    by: UserName | None = Field(
        default=None,
        description="Who cancels: his own name. Of a Plan's Task the operator writes whose "
        "decision about the Plan it was; `operator`: nobody decided in time. Absent: a user.",
    )


class WaitReason(StrEnum):
    """Why something waits although nothing failed; failures are in `bernstein.api.reasons`."""

    DEPENDENCY_PENDING = "DependencyPending"
    """A Task that it depends on is not Closed yet."""
    PLAN_CANCELLED = "PlanCancelled"
    """Its Plan was cancelled, or is delivered without it: it never starts, is cancelled next."""
    PLAN_SUSPENDED = "PlanSuspended"
    """Its Plan says `suspend`."""
    SUSPENDED = "Suspended"
    """The Plan itself says `suspend`."""
    PLAN_STARTING = "PlanStarting"
    """Its Plan's integration ref is not made yet."""
    BEGIN_QUEUE = "BeginQueue"
    """Of a Plan: it asks for its turn to make its integration ref."""
    MAX_AGENTS = "MaxAgents"
    """All agents that the Project or the Plan allows are at work."""
    FILE_OVERLAP = "FileOverlap"
    """Another Task owns some of its files, or may."""
    SUBTASKS_PENDING = "SubtasksPending"
    """The Tasks that it was split into are not all Closed yet."""
    SIBLINGS_AT_WORK = "SiblingsAtWork"
    """A command has rejected its work, and what ran beside it has yet to land."""
    BATCH_WAITS = "BatchWaits"
    """It has `mode: batch`, and another Task is ready."""
    MERGE_QUEUE = "MergeQueue"
    """It is verified, and asks for its turn to land."""
    PULL_REQUEST_OPEN = "PullRequestOpen"
    """A person has yet to merge its pull request, on the forge."""
    AWAITING_APPROVAL = "AwaitingApproval"
    """A person has yet to decide about it, or about its Plan."""


PASSES = {
    WaitReason.DEPENDENCY_PENDING: False,
    WaitReason.PLAN_CANCELLED: False,
    WaitReason.PLAN_SUSPENDED: False,
    WaitReason.SUSPENDED: False,
    WaitReason.PLAN_STARTING: True,
    WaitReason.BEGIN_QUEUE: True,
    WaitReason.MAX_AGENTS: True,
    WaitReason.FILE_OVERLAP: True,
    WaitReason.SUBTASKS_PENDING: False,
    WaitReason.SIBLINGS_AT_WORK: True,
    WaitReason.BATCH_WAITS: True,
    WaitReason.MERGE_QUEUE: True,
    WaitReason.PULL_REQUEST_OPEN: False,
    WaitReason.AWAITING_APPROVAL: False,
}
"""Whether other Tasks or the Plan itself end it: a Plan in which all wait for such still moves."""


class WaitScope(StrEnum):
    """Whom the cause of a waiting concerns: they wait for the same."""

    TASK = "Task"
    """Nobody else."""
    PLAN = "Plan"
    """All of the same Plan."""
    AGENT = "Agent"
    """All that need the same agent entry of the Project."""
    PROVIDER = "Provider"
    """All whose agents use the same model key."""
    REPOSITORY = "Repository"
    """All of the Project."""


class Tried(Model):
    """What failed last, and is to be tried again."""

    reason: Annotated[str, Field(max_length=64)]
    """What failed, in one word that stays the same between releases."""
    generation: int = Field(description="Generation of the Project that it was tried with.")
    times: Annotated[int, Field(ge=1)] | None = None
    """How often in a row it has failed so, with that Project; absent: once, or nobody counted."""


class Waiting(Model):
    """What a Task or a Plan waits for. Absent: for nothing."""

    reason: Annotated[str, Field(max_length=64)]
    """Why it waits, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=LONGEST_MESSAGE)] = Field(
        default="", description="With the remedy, where there is one."
    )
    since: datetime = Field(description="When it began to wait for this reason.")
    until: datetime | None = Field(
        default=None,
        description="When it is tried again by itself. Absent: something else must change first.",
    )
    until_alone: datetime | None = Field(
        default=None,
        description="When it is tried again should nobody else look for the same: `until`, or "
        "sooner. Absent: nobody could in its stead.",
    )
    scope: WaitScope = Field(default=WaitScope.TASK, description="Whom the cause concerns.")
    needs_person: bool = Field(
        default=False, description="It does not go on, or not for long, unless a person acts."
    )
    tried: Tried | None = Field(
        default=None,
        description="What failed last; a change of the Project lets it be tried again at once.",
    )


class Abandoned(Model):
    """A run is being ended before it has a result; its pod is judged once it has ended."""

    reason: Annotated[str, Field(max_length=64)]
    """Why, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=2048)] = ""
    """Why, for people."""
