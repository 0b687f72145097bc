"""AgentRole: what an agent of a role is told, and which model it runs with."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from bernstein.api.meta import Conditions, CopiedLine, Line, Metadata, Model, cel, rule
from bernstein.api.vocabulary import ROLES, Effort

LONGEST_TEMPLATE = 16_384
"""Characters of a template."""
MOST_TASKS = 1
"""Of one session, which is one attempt of one Task."""
Template = Annotated[str, Field(min_length=1, max_length=LONGEST_TEMPLATE)]
TaskTemplate = Annotated[str, Field(max_length=LONGEST_TEMPLATE)]


class AgentRoleSpec(Model):
    description: Line | None = None
    """What the role is for, in one line, for people."""
    prompt: Template | None = Field(
        default=None,
        description="What an agent of the role is told first: who it is, how it works, when it is "
        "done. A template; absent: the text of the built-in role of this name.",
    )
    task_prompt: TaskTemplate | None = Field(
        default=None,
        json_schema_extra=cel(
            (
                "self.contains('{{TASK_DESCRIPTION}}')",
                "contains no {{TASK_DESCRIPTION}}: what a Task asks for would not be told",
            )
        ),
        description="How a Task is put to it, in place of the Task's description alone: a template "
        "that contains {{TASK_DESCRIPTION}}. Absent: in the words of the description.",
    )
    model: Line | None = Field(
        default=None,
        description="For Tasks that name none: a tier, or a provider's model. Absent or auto: by "
        "role, scope and complexity.",
    )
    effort: Effort | None = Field(
        default=None,
        description="For Tasks that name none: how hard the model should think. Absent: by role, "
        "scope and complexity.",
    )
    max_tasks_per_session: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None,
        description="Taken as 1, whatever it says: a session is one attempt of one Task.",
    )


class EffectiveRole(Model):
    """What holds of it, where that is not plain from its spec."""

    model: CopiedLine | None = Field(
        default=None, description="Absent: by role, scope and complexity."
    )
    effort: Effort | None = Field(default=None, description="Absent: by role, scope, complexity.")
    max_tasks_per_session: int = MOST_TASKS
    """How many Tasks a session of it works on."""


class AgentRoleStatus(Model):
    observed_generation: int = -1
    """Generation that this status is about; -1: none yet."""
    conditions: Conditions = ()
    """Validated; Stalled while it is not valid; ModelNotKnown while a Project does not know
    its model."""
    overrides: bool | None = Field(
        default=None, description="It stands for the built-in role of its name."
    )
    effective: EffectiveRole | None = Field(
        default=None, description="What holds of it. Absent: it is not valid, and not used."
    )


class AgentRole(Model):
    """How agents of a role work: their prompt, and the model where a Task names none. It stands for
    the built-in role of its name, or adds one."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "self.metadata.name.matches('^[a-z][-a-z0-9]*$') && size(self.metadata.name) <= 63",
                "metadata.name is the role's: at most 63 lower-case letters, digits and '-', "
                "a letter first",
            ),
            rule(
                "has(self.spec.prompt) || self.metadata.name in "
                f"[{', '.join(repr(name) for name in ROLES)}]",
                "only a built-in role has a text of its own: write a prompt",
                fieldPath=".spec.prompt",
                reason="FieldValueRequired",
            ),
        ),
    }

    metadata: Metadata
    spec: AgentRoleSpec
    status: AgentRoleStatus = Field(default_factory=AgentRoleStatus)


def parse(obj: dict[str, Any]) -> AgentRole:
    """An AgentRole as the API server serves it."""
    return AgentRole.model_validate(obj)
