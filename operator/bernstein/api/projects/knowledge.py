"""What every agent of a Project is told beside its Task."""

from __future__ import annotations

from pydantic import Field

from bernstein.api.meta import DataKey, Model, Name, ObjectName, RelativePath, cel, rule

MOST_KNOWLEDGE = 16


class KnowledgeKey(Model):
    name: ObjectName
    """ConfigMap of this namespace; none of Bernstein's own."""
    key: DataKey
    """Key whose text is told."""


class Knowledge(Model):
    """One text: of a ConfigMap as it is when a session begins, or of the repository as it is in the
    commit that the agent begins with."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "has(self.configMap) != has(self.path)",
                "knowledge has either 'configMap' or 'path'",
            )
        ),
    }

    name: Name
    """What prompts call it."""
    config_map: KnowledgeKey | None = Field(
        default=None, description="Where its text is; a path of the repository, where it is absent."
    )
    path: RelativePath | None = Field(
        default=None,
        description="File whose contents are its text: the name of one, no glob. Absent: it is in "
        "a ConfigMap.",
    )
