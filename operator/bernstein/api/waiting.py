"""Why something waits, and how it is cancelled."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model

BY_USER = "Cancelled by user"
LONGEST_REASON = 1024


class Cancel(Model):
    reason: Annotated[str, Field(min_length=1, max_length=LONGEST_REASON)] = BY_USER
    """Why, for people; kept with everything that ends by it."""


class WaitReason(StrEnum):
    """Why a Task waits although nothing failed; failures are in `bernstein.api.reasons`."""

    DEPENDENCY_PENDING = "DependencyPending"
    """A Task that it depends on is not Closed yet."""
    PLAN_CANCELLED = "PlanCancelled"
    """Its Plan was cancelled: it never starts, and is cancelled next."""
    PLAN_SUSPENDED = "PlanSuspended"
    """Its Plan says `suspend`."""
    PLAN_STARTING = "PlanStarting"
    """Its Plan's integration ref is not made yet."""
    MAX_AGENTS = "MaxAgents"
    """All agents that the Project or the Plan allows are at work."""
    FILE_OVERLAP = "FileOverlap"
    """Another Task owns some of its files, or may."""
    BATCH_WAITS = "BatchWaits"
    """It has `mode: batch`, and another Task is ready."""
    MERGE_QUEUE = "MergeQueue"
    """It is verified, and another Task lands first."""


class QueueReason(Model):
    reason: Annotated[str, Field(max_length=64)]
    """Why it waits, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=1024)] = ""
    """Why it waits, for people."""


class Abandoned(Model):
    """A run is being ended before it has a result; its pod is judged once it has ended."""

    reason: Annotated[str, Field(max_length=64)]
    """Why, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=2048)] = ""
    """Why, for people."""


class Hold(Model):
    """Something outside must change first; tried again at `retryAt`, or when the Project
    changes."""

    reason: Annotated[str, Field(max_length=64)]
    """What failed, in one word that stays the same between releases."""
    message: Annotated[str, Field(max_length=2048)] = ""
    """What failed, for people."""
    retry_at: datetime
    """When it is tried again, unless the Project changes before."""
    generation: int = Field(description="Generation of the Project that was tried.")
