"""Completion signals and the fields of steps, which Plan and Task share."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Line, Model, Name, RelativePath, Text, rules_of, words_of
from bernstein.api.vocabulary import Complexity, Effort, Scope

LONGEST_TIMEOUT_SECONDS = 86400
LONGEST_ESTIMATE_MINUTES = 10080
STEP_MINUTES = 30
"""What a step takes that does not say."""
LOOPBACK_URL = r'^(http://(localhost|127[.]0[.]0[.]1)(:[$]PORT)?)?/[!-"$-~]*$'
"""No port: the check chooses it. No character that a request's first line cannot hold."""
MOST_PATTERN_CHARACTERS = 8192
"""Of all regular expressions of a step or Task together: 3 µs each where they are the worst."""


class Signal(Model):
    """One machine-checkable sign that the step is done, evaluated on the tree the agent left."""

    model_config = {**Model.model_config, "json_schema_extra": rules_of("signals")}

    type: Annotated[str, Field(max_length=63, json_schema_extra=words_of("signals"))]
    """What is looked at; decides which other fields it takes."""
    path: RelativePath | None = None
    """File or folder, relative to the repository."""
    value: RelativePath | None = None
    """Glob of files, relative to the repository."""
    url: Annotated[str, Field(pattern=LOOPBACK_URL, max_length=1024)] | None = None
    """Path that the service is asked for, such as /health, or http://localhost:$PORT/health."""
    status: Annotated[int, Field(ge=100, le=599)] | None = None
    """Status that the service must answer with; absent: 200."""
    contains: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    """Text that must be in the file, or in the answer."""
    regex: bool | None = None
    """true: `contains` is a regular expression."""
    command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Shell command that must end with exit code 0; of a service, what starts it."""
    timeout_seconds: Annotated[int, Field(ge=1, le=LONGEST_TIMEOUT_SECONDS)] | None = None
    """How long the command may take, in seconds; absent: 120."""
    criteria: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    """What the change must meet, in words; a model is asked."""


MOST_FILES = 40
"""Paths and globs of one list."""
Files = Annotated[tuple[RelativePath, ...], Field(max_length=MOST_FILES)]
Signals = Annotated[tuple[Signal, ...], Field(max_length=20)]
Constraints = Annotated[tuple[Annotated[str, Field(max_length=1024)], ...], Field(max_length=50)]


class Assignment(Model):
    """What a step and a Task say alike."""

    description: Text | None = None
    """What is to be done, for the agent."""
    role: Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]*$", max_length=63)] = "backend"
    """Told to the agent; chooses model and effort where the step does not."""
    priority: Annotated[int, Field(ge=1, le=5)] = Field(default=2, description="1 is the highest.")
    scope: Scope = "medium"
    """How much is to be done; decides how long a session may take."""
    complexity: Complexity = "medium"
    """How hard it is; with scope it chooses the model where none is named."""
    model: Line | None = Field(default=None, description="auto, a tier, or a provider's model.")
    effort: Effort | None = None
    """How hard the model should think; absent: by role, scope and complexity."""
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
    """What must hold of the tree that the agent leaves."""
    changes: Literal["none"] | None = Field(
        default=None, description="none: the step is expected to change nothing."
    )


def expressions_of(given: Assignment) -> tuple[str, ...]:
    """The regular expressions among its completion signals."""
    return tuple(s.contains for s in given.completion_signals if s.regex and s.contains)
