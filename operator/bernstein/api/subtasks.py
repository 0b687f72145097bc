"""Subtasks: the Tasks into which a Task is split, and how many there may be."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model, ObjectName

MOST_DEPTH = 2
MOST_SUBTASKS = 20


class SubtaskLimits(Model):
    depth: Annotated[int, Field(ge=0, le=MOST_DEPTH)] = Field(
        default=MOST_DEPTH,
        description="How often what a step asks for may be split: 1, subtasks of its Task; 2, "
        "theirs, too; 0, nothing is split.",
    )
    count: Annotated[int, Field(ge=1, le=MOST_SUBTASKS)] = MOST_SUBTASKS
    """Subtasks that one Task may be split into."""


class Subtask(Model):
    """One of the Tasks into which a Task is split."""

    name: ObjectName
    """Name of its Task."""
    uid: Annotated[str, Field(max_length=64)] | None = None
    """Uid of its Task, once that was seen."""
    state: Annotated[str, Field(max_length=32)] = "Open"
    """Its state when it was seen last."""


class Split(Model):
    """That a Task is split, by what its agent has left."""

    number: Annotated[int, Field(ge=1)]
    """How often it was split; in the names of its subtasks."""
    session: Annotated[str, Field(max_length=63)]
    """AgentSession that left its subtasks."""
    sha256: Annotated[str, Field(max_length=64)]
    """SHA-256 of what it left, in the ConfigMap `<session>-documents`."""
    since: datetime
    """When it was split."""
    over: bool | None = Field(
        default=None,
        description="true: it waits for them no more: all are Closed, or somebody said so.",
    )
