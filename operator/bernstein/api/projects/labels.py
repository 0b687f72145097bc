"""Labels as Kubernetes takes them, and who may set which."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import CelRule, cel, rule

NAME = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_OTHERS = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "controller-uid",
    "job-name",
)
"""By which Argo CD, we and the Job controller know what is theirs."""


def named(what: str) -> CelRule:
    """A rule for a map whose keys are names as labels and annotations have them."""
    return rule(
        f"self.all(name, size(name) <= 317 && name.matches('{NAME}'))",
        f"names of {what} are letters, digits, '-', '_' and '.', with a prefix before a '/'",
    )


LabelValue = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)
]
Labels = Annotated[
    dict[str, LabelValue],
    Field(min_length=1, max_length=16, json_schema_extra=cel(named("labels"))),
]
PodLabels = Annotated[
    dict[str, LabelValue],
    Field(
        min_length=1,
        max_length=16,
        json_schema_extra=cel(
            named("labels"),
            rule(
                f"self.all(name, !(name in {list(_OTHERS)}) && !name.startsWith('bernstein.dev/') "
                "&& !name.startsWith('batch.kubernetes.io/'))",
                "labels by which Bernstein, the Job controller or Argo CD know what is theirs are "
                "not set here",
            ),
        ),
    ),
]
PodAnnotations = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    Field(
        min_length=1,
        max_length=16,
        json_schema_extra=cel(
            named("annotations"),
            rule(
                "self.all(name, !name.startsWith('bernstein.dev/') "
                "&& !name.startsWith('argocd.argoproj.io/') "
                "&& !name.startsWith('container.apparmor.security.beta.kubernetes.io/'))",
                "annotations of Bernstein and Argo CD, and those for AppArmor, are not set here",
            ),
        ),
    ),
]
