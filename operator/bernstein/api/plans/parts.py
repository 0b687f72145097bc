"""What a step, and the Task that it becomes, say of the subtasks that they are split into."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import WITHOUT_RULES, Line, Model, Text
from bernstein.api.projects.subtasks import MOST_SUBTASKS
from bernstein.api.signals import LONGEST_ESTIMATE_MINUTES, Files, Signals
from bernstein.api.vocabulary import Complexity, Scope


class Part(Model):
    """A subtask. Agent, model, repository and all else is that of the Task that is split."""

    title: Line
    """What is to be done, in one line; once among the subtasks of a Task."""
    description: Text | None = None
    """What is to be done, for the agent."""
    role: Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]*$", max_length=63)] = "backend"
    """Told to the agent; chooses model and effort where the Task does not."""
    priority: Annotated[int, Field(ge=1, le=5)] | None = Field(
        default=None,
        description="1 is the highest; no higher one than that of the Task. Absent: that.",
    )
    scope: Scope = "medium"
    """How much is to be done; decides how long a session may take."""
    complexity: Complexity = "medium"
    """How hard it is; with scope it chooses the model where none is named."""
    estimated_minutes: Annotated[int, Field(ge=1, le=LONGEST_ESTIMATE_MINUTES)] | None = Field(
        default=None,
        description="A session may take at least twice as long; estimates count 30 if absent.",
    )
    files: Files = Field(
        default=(),
        description="Paths or globs that it may touch, of those of the Task. Absent: all of them.",
    )
    completion_signals: Signals = Field(
        default=(),
        description="What must hold of the tree that its agent leaves. Absent: as for the Task.",
    )


# Their paths and signals are judged with the Plan: a Plan may hold 1,600,000 of them, and the API
# server's estimate of what their rules cost would allow no such Plan.
Parts = Annotated[
    tuple[Part, ...],
    Field(max_length=MOST_SUBTASKS, json_schema_extra={**WITHOUT_RULES, "minItems": 1}),
]
