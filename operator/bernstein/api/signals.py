"""Completion signals and the fields of steps, which Plan and Task share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Line, Model, Name, RelativePath, Text, rules_of, words_of
from bernstein.api.vocabulary import Complexity, Effort, Scope

LONGEST_TIMEOUT_SECONDS = 86400
LONGEST_ESTIMATE_MINUTES = 10080


class Signal(Model):
    """One machine-checkable sign that the step is done, evaluated on the tree the agent left."""

    model_config = {**Model.model_config, "json_schema_extra": rules_of("signals")}

    type: Annotated[str, Field(max_length=63, json_schema_extra=words_of("signals"))]
    path: RelativePath | None = None
    value: RelativePath | None = None
    contains: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    regex: bool | None = None
    command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=LONGEST_TIMEOUT_SECONDS)] | None = None


Files = Annotated[tuple[RelativePath, ...], Field(max_length=40)]
Signals = Annotated[tuple[Signal, ...], Field(max_length=20)]
Constraints = Annotated[tuple[Annotated[str, Field(max_length=1024)], ...], Field(max_length=50)]


class Assignment(Model):
    """What a step and a Task say alike."""

    description: Text | None = None
    role: Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]*$", max_length=63)] = "backend"
    priority: Annotated[int, Field(ge=1, le=5)] = Field(default=2, description="1 is the highest.")
    scope: Scope = "medium"
    complexity: Complexity = "medium"
    model: Line | None = Field(default=None, description="auto, a tier, or a provider's model.")
    effort: Effort | None = None
    estimated_minutes: Annotated[int, Field(ge=1, le=LONGEST_ESTIMATE_MINUTES)] | None = Field(
        default=None,
        description="A session may take at least twice as long; estimates count 30 if absent.",
    )
    mode: Literal["batch"] | None = Field(
        default=None, description="batch: only when no other Task of the Project is ready."
    )
    cli: Name | None = Field(default=None, description="Agent of the Project that does the work.")
    files: Files = Field(default=(), description="Paths or globs that the step may touch.")
    completion_signals: Signals = ()
    changes: Literal["none"] | None = Field(
        default=None, description="none: the step is expected to change nothing."
    )
