"""What a Project says of its pods: on which nodes they run, and what others read of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bernstein.api.meta import Model, ObjectName, cel, rule
from bernstein.api.projects.labels import (
    LONGEST,
    NAME,
    LabelValue,
    NodeLabels,
    PodAnnotations,
    PodLabels,
)

PriorityClass = Annotated[
    ObjectName,
    Field(
        json_schema_extra=cel(
            ("!self.startsWith('system-')", "priorities of the system are not for agents")
        )
    ),
]


class Toleration(Model):
    """As in the spec of a pod."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
                "a toleration without key has operator Exists, and is for all taints",
            ),
            rule(
                "!has(self.value) || !has(self.operator) || self.operator != 'Exists'",
                "a toleration with operator Exists has no value",
            ),
            rule(
                "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
                "tolerationSeconds goes with effect NoExecute",
            ),
        ),
    }

    key: Annotated[str, Field(pattern=NAME, max_length=LONGEST)] | None = None
    """Of the taint; absent: of all taints."""
    operator: Literal["Exists", "Equal"] | None = None
    """Absent: Equal."""
    value: LabelValue | None = None
    """Of the taint, with Equal."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    """Absent: all of them."""
    toleration_seconds: Annotated[int, Field(ge=0, le=604800)] | None = Field(
        default=None,
        description="Seconds that a pod stays beside the taint; absent: until it ends.",
    )


class PodSettings(Model):
    runtime_class_name: ObjectName | None = None
    """RuntimeClass of all pods, such as a sandboxed one."""
    image_pull_secrets: Annotated[tuple[ObjectName, ...], Field(max_length=8)] = ()
    """Secrets with which nodes pull images."""
    node_selector: NodeLabels | None = None
    """Labels of the nodes on which pods run; absent: any node. Where the platform allows it."""
    tolerations: Annotated[
        tuple[Toleration, ...],
        Field(max_length=16, json_schema_extra={"x-kubernetes-list-type": "atomic"}),
    ] = ()
    """Taints of nodes on which pods run nevertheless. Where the platform allows it."""
    priority_class_name: PriorityClass | None = None
    """PriorityClass of all pods. Where the platform allows it."""
    labels: PodLabels | None = None
    """Labels of all pods besides ours, for service meshes or the reckoning of costs."""
    annotations: PodAnnotations | None = None
    """Annotations of all pods."""
