"""What the rules of a Project's `pods` take and refuse."""

from __future__ import annotations

from typing import Any

from tests.control_plane.api.registry_pairs import Pair

NAMES = (
    "names of {} are up to 63 letters, digits, '-', '_' and '.', alone or behind a domain and a '/'"
)
NO_NAMES: tuple[Any, ...] = (
    *({"a b": "x"}, {"a/b/c": "x"}, {"-a": "x"}, {"a..b/c": "x"}, {"A.b/c": "x"}),
    *({"a" * 64: "x"}, {f"a/{'b' * 64}": "x"}, {f"{'a' * 254}/b": "x"}),
)
PODS = {
    NAMES.format("labels"): Pair(
        {"app.kubernetes.io/name": "git", "Tier_1": "", "a" * 63: "x"}, NO_NAMES
    ),
    NAMES.format("annotations"): Pair(
        {"sidecar.istio.io/inject": "false", f"{'a' * 189}/{'b' * 63}": ""}, NO_NAMES
    ),
    "labels by which Bernstein, the Job controller or Argo CD know what is theirs are not set "
    "here": Pair(
        {"app.kubernetes.io/name": "agents", "my.bernstein.dev/a": "x"},
        (
            {"app.kubernetes.io/instance": "x"},
            {"app.kubernetes.io/managed-by": "bernstein"},
            {"bernstein.dev/task": "x"},
            {"batch.kubernetes.io/job-name": "x"},
            {"job-name": "x"},
            {"controller-uid": "x"},
        ),
    ),
    "annotations of Bernstein, Argo CD and nodes, and those for AppArmor and seccomp, are not set "
    "here": Pair(
        {"linkerd.io/inject": "disabled", "kubernetes.io/egress-bandwidth": "1M"},
        (
            {"bernstein.dev/expires": "x"},
            {"argocd.argoproj.io/tracking-id": "x"},
            {"container.apparmor.security.beta.kubernetes.io/agent": "unconfined"},
            {"container.seccomp.security.alpha.kubernetes.io/agent": "unconfined"},
            {"seccomp.security.alpha.kubernetes.io/pod": "unconfined"},
            {"kubernetes.io/config.mirror": "x"},
        ),
    ),
    "priorities of the system are not for agents": Pair("batch", ("system-node-critical",)),
    "a toleration without key has operator Exists, and is for all taints": Pair(
        {"operator": "Exists"}, ({"value": "a"}, {"operator": "Equal", "value": "a"})
    ),
    "a toleration with operator Exists has no value": Pair(
        {"key": "a", "value": "b"}, ({"key": "a", "operator": "Exists", "value": "b"},)
    ),
    "tolerationSeconds goes with effect NoExecute": Pair(
        {"key": "a", "effect": "NoExecute", "tolerationSeconds": 9},
        (
            {"key": "a", "tolerationSeconds": 9},
            {"key": "a", "effect": "NoSchedule", "tolerationSeconds": 9},
        ),
    ),
}
