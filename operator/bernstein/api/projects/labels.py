"""Labels as Kubernetes takes them, and who may set which."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from bernstein.api.meta import CelRule, cel, rule

_ROUGHLY = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_PART = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
NAME = rf"^({_PART}([.]{_PART})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?$"
"""Of what a pod has: one that Kubernetes does not take would be told by a Job that is refused."""
LONGEST = 253
"""Characters in all. So no prefix is longer than Kubernetes takes."""
_OTHERS = (
    "app.kubernetes.io/instance",
    "app.kubernetes.io/managed-by",
    "controller-uid",
    "job-name",
)
"""By which Argo CD, we and the Job controller know what is theirs."""
_NOT_HERE = (
    "bernstein.dev/",
    "argocd.argoproj.io/",
    "container.apparmor.security.beta.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
    "seccomp.security.alpha.kubernetes.io/",
    "kubernetes.io/config.",
)
"""How annotations begin that no Project sets. The last ones are on pods that a node makes."""

LabelValue = Annotated[
    str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", max_length=63)
]


def _some(*rules: CelRule) -> Any:
    """Of a map that says something, and not much."""
    return Field(min_length=1, max_length=16, json_schema_extra=cel(*rules))


def _named(what: str) -> CelRule:
    """A rule for a map whose keys are names as Kubernetes takes them."""
    return rule(
        f"self.all(name, size(name) <= {LONGEST} && name.matches('{NAME}'))",
        f"names of {what} are up to 63 letters, digits, '-', '_' and '.', alone or behind a domain "
        "and a '/'",
    )


Labels = Annotated[
    dict[str, LabelValue],
    _some(
        rule(
            f"self.all(name, size(name) <= 317 && name.matches('{_ROUGHLY}'))",
            "names of labels are letters, digits, '-', '_' and '.', with a prefix before a '/'",
        )
    ),
]
"""Of others, that are looked for."""
NodeLabels = Annotated[dict[str, LabelValue], _some(_named("labels"))]
PodLabels = Annotated[
    dict[str, LabelValue],
    _some(
        _named("labels"),
        rule(
            f"self.all(name, !(name in {list(_OTHERS)}) && !name.startsWith('bernstein.dev/') "
            "&& !name.startsWith('batch.kubernetes.io/'))",
            "labels by which Bernstein, the Job controller or Argo CD know what is theirs are "
            "not set here",
        ),
    ),
]
PodAnnotations = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    _some(
        _named("annotations"),
        rule(
            "self.all(name, "
            + " && ".join(f"!name.startsWith('{start}')" for start in _NOT_HERE)
            + ")",
            "annotations of Bernstein, Argo CD and nodes, and those for AppArmor and seccomp, "
            "are not set here",
        ),
    ),
]
