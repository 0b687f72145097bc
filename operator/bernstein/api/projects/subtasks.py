"""How far a Project lets Tasks be split."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model

MOST_DEPTH = 2
MOST_SUBTASKS = 20


class SubtaskLimits(Model):
    """Into what a Task may be split."""

    depth: Annotated[int, Field(ge=0, le=MOST_DEPTH)] = Field(
        default=MOST_DEPTH,
        description="How often what a step asks for may be split: 1, subtasks of its Task; 2, "
        "theirs, too; 0, nothing is split.",
    )
    count: Annotated[int, Field(ge=1, le=MOST_SUBTASKS)] = MOST_SUBTASKS
    """Subtasks that one Task may be split into."""
