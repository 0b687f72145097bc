"""Completion signals and the vocabulary of steps, shared by Plan and Task."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Line, Model, Name, RelativePath, Text, cel, needs, refuses

ROLES = (
    "analyst",
    "architect",
    "backend",
    "ci-fixer",
    "data",
    "devops",
    "docs",
    "frontend",
    "manager",
    "ml-engineer",
    "prompt-engineer",
    "qa",
    "resolver",
    "retrieval",
    "reviewer",
    "security",
    "visionary",
    "vp",
)
SCOPES = ("small", "medium", "large")
COMPLEXITIES = ("low", "medium", "high")
EFFORTS = ("low", "normal", "high", "max")
SIGNAL_TYPES = ("path_exists", "glob_exists", "file_contains", "test_passes")

Scope = Literal["small", "medium", "large"]
Complexity = Literal["low", "medium", "high"]
Effort = Literal["low", "normal", "high", "max"]


_READS_A_FILE = "self.type in ['path_exists', 'file_contains']"
_NO_TEXT = "self.type != 'file_contains'"
_NO_TEST = "self.type != 'test_passes'"


class Signal(Model):
    """One machine-checkable sign that the step is done, evaluated on the tree the agent left."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            needs("path", _READS_A_FILE, "path_exists and file_contains need a path"),
            refuses(
                "path", f"!({_READS_A_FILE})", "only path_exists and file_contains take a path"
            ),
            needs("value", "self.type == 'glob_exists'", "glob_exists needs a value"),
            refuses("value", "self.type != 'glob_exists'", "only glob_exists takes a value"),
            needs("contains", "self.type == 'file_contains'", "file_contains needs 'contains'"),
            refuses("contains", _NO_TEXT, "only file_contains takes 'contains'"),
            refuses("regex", _NO_TEXT, "only file_contains takes 'regex'"),
            needs("command", "self.type == 'test_passes'", "test_passes needs a command"),
            refuses("command", _NO_TEST, "only test_passes takes a command"),
            refuses("timeoutSeconds", _NO_TEST, "only test_passes takes 'timeoutSeconds'"),
        ),
    }

    type: Literal["path_exists", "glob_exists", "file_contains", "test_passes"]
    path: RelativePath | None = None
    value: RelativePath | None = None
    contains: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    regex: bool | None = None
    command: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=86400)] | None = None


Files = Annotated[tuple[RelativePath, ...], Field(max_length=40)]
Signals = Annotated[tuple[Signal, ...], Field(max_length=20)]
Constraints = Annotated[tuple[Annotated[str, Field(max_length=1024)], ...], Field(max_length=50)]


class Work(Model):
    """What a step and a Task say alike."""

    description: Text | None = None
    role: Annotated[str, Field(pattern=r"^[a-z][-a-z0-9]*$", max_length=63)] = "backend"
    priority: Annotated[int, Field(ge=1, le=5)] = Field(default=2, description="1 is the highest.")
    scope: Scope = "medium"
    complexity: Complexity = "medium"
    model: Line | None = Field(default=None, description="auto, a tier, or a provider's model.")
    effort: Effort | None = None
    estimated_minutes: Annotated[int, Field(ge=1, le=10080)] | None = Field(
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
