"""The kinds, the operator, and the policies that keep others from writing what is ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

from bernstein.cli.commands.doctor.finding import Finding, Outcome, listed, unreadable
from bernstein.core.pods import parse_time
from bernstein.core.sanitise import count
from bernstein.crds import KINDS, definition
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import LEASES, PODS, Object, Resource

DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"
)
POLICIES = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicies",
    "ValidatingAdmissionPolicy",
)
BINDINGS = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
)
POLICY_NAMES = (
    *("approvals", "authors", "connections", "objects", "operator", "orphans", "pods"),
    *("requests", "sessions", "status", "tasks", "tokens"),
)
"""What the names of the chart's policies end with."""
_OPERATOR = "-operator"
_SKEW_SECONDS = 60
"""So much the clock here may differ from the operator's."""
_SHOWN = 5
_RECENT = timedelta(hours=1)
"""A restart that is older is no news."""


async def definitions(client: Client) -> Finding:
    """Whether the API server has the kinds as this version of the program knows them."""
    check, wanted = "definitions", {f"{kind.plural}.{_group(kind)}": kind for kind in KINDS}
    crds = await listed(client, DEFINITIONS)
    if crds is None:
        return unreadable(check, "CustomResourceDefinitions")
    live = {obj["metadata"]["name"]: obj for obj in crds}
    missing = sorted(wanted.keys() - live.keys())
    if missing:
        remedy = "install the Helm chart, which brings them unless crds.install is false"
        return Finding(check, Outcome.BAD, f"not installed: {', '.join(missing)}", remedy)
    differing = {
        name: _fields(definition(kind)) ^ _fields(live[name]) for name, kind in wanted.items()
    }
    told = tuple(sorted(f"{name}: {path}" for name, paths in differing.items() for path in paths))
    if told:
        more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        fields = ", ".join(told[:_SHOWN]) + more
        return Finding(
            check,
            Outcome.WARNING,
            f"of another version than this program: fields differ, {fields}",
            "use chart, CRDs and command line of the same version; helm upgrades CRDs, too",
        )
    return Finding(check, Outcome.GOOD, f"all {len(wanted)} kinds are as this version has them")


def _group(kind: Any) -> str:
    group: str = definition(kind)["spec"]["group"]
    return group


def _fields(crd: Mapping[str, Any]) -> set[str]:
    """Paths of all fields of spec and status."""
    (stored,) = (v for v in crd["spec"]["versions"] if v.get("storage"))
    properties = stored["schema"]["openAPIV3Schema"].get("properties", {})
    kept = {name: node for name, node in properties.items() if name in ("spec", "status")}
    return set(_paths({"properties": kept}, ""))


def _paths(node: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, below in node.get("properties", {}).items():
        yield f"{above}{name}"
        yield from _paths(below, f"{above}{name}.")
    if isinstance(node.get("items"), Mapping):
        yield from _paths(node["items"], above)


async def leader(client: Client, namespace: str, name: str, now: datetime) -> Finding:
    """Whether a replica of the operator leads, and says so still."""
    check, subject = "operator", f"{namespace}/{name}"
    remedy = f"kubectl -n {namespace} get deployment,pods; their logs say why"
    try:
        lease = await client.get(LEASES, name, namespace)
    except Forbidden:
        return unreadable(check, f"the Lease {subject}", subject)
    except NotFound:
        text = f"there is no Lease {subject}: the operator has never led, or is elsewhere"
        return Finding(check, Outcome.BAD, text, f"{remedy}; or name it with --lease", subject)
    of_lease = _lease(lease, now, subject, remedy)
    pods = await listed(client, PODS, namespace) if of_lease.outcome is Outcome.GOOD else None
    again = _restarted([pod for pod in pods or () if _is_replica(pod, name)], now)
    if not again:
        return of_lease
    text = f"{of_lease.message}; {again}"
    logs = f"`kubectl logs -n {namespace} --previous POD`"
    helps = f"kubectl -n {namespace} describe pods; {logs} says why"
    return Finding(check, Outcome.WARNING, text, helps, subject)


def _is_replica(pod: Object, name: str) -> bool:
    """The chart gives Lease and Deployment the same name."""
    pod_name: str = pod["metadata"]["name"]
    return pod_name.startswith(f"{name}-")


def _restarted(pods: Sequence[Object], now: datetime) -> str:
    """Which containers ended within the last hour and were started again, and why; or ""."""
    said = []
    for pod in pods:
        for status in (pod.get("status") or {}).get("containerStatuses") or ():
            last = (status.get("lastState") or {}).get("terminated") or {}
            ended = last.get("finishedAt")
            if ended is None or now - parse_time(ended) > _RECENT:
                continue
            ago = round((now - parse_time(ended)).total_seconds() / 60)
            why = f"{last.get('reason') or 'ended'}, exit code {last.get('exitCode')}"
            times = count(status.get("restartCount") or 0, "restart")
            said.append(f"'{pod['metadata']['name']}': {times}, the last {ago} min ago ({why})")
    return "; ".join(said)


def _lease(lease: Object, now: datetime, subject: str, remedy: str) -> Finding:
    check, spec = "operator", lease.get("spec") or {}
    holder, renewed = spec.get("holderIdentity"), spec.get("renewTime")
    if not holder or renewed is None:
        return Finding(check, Outcome.BAD, f"no replica holds the Lease {subject}", remedy, subject)
    age = now - parse_time(renewed)
    lasts = timedelta(seconds=(spec.get("leaseDurationSeconds") or 15) + _SKEW_SECONDS)
    if age > lasts:
        text = f"'{holder}' has not renewed the Lease {subject} for {round(age.total_seconds())} s"
        return Finding(check, Outcome.BAD, text, remedy, subject)
    return Finding(check, Outcome.GOOD, f"'{holder}' leads", subject=subject)


def _older(all_policies: Sequence[Object], there: set[str], missing: Sequence[str]) -> Finding:
    """What is there is in force, and what is missing is not there at all."""
    chart = {
        (obj["metadata"].get("labels") or {}).get("app.kubernetes.io/version") or "without version"
        for obj in all_policies
        if obj["metadata"]["name"] in there
    }
    text = (
        f"the chart in the cluster ({', '.join(sorted(chart))}) lacks policies that this program "
        f"({version('bernstein')}) knows: {', '.join(missing)}"
    )
    remedy = "upgrade the chart to the program's version; if it is that already, install it again"
    return Finding("policies", Outcome.BAD, text, remedy)


async def policies(client: Client, operator: str) -> Finding:
    """Whether the chart's admission policies are there, and bound. `operator`: name of its Lease,
    which those of the policies begin like."""
    check = "policies"
    all_policies, bound = await listed(client, POLICIES), await listed(client, BINDINGS)
    if all_policies is None or bound is None:
        return unreadable(check, "ValidatingAdmissionPolicies and their bindings")
    release = operator.removesuffix(_OPERATOR)
    wanted = {f"{release}-{name}" for name in POLICY_NAMES}
    there = wanted & {obj["metadata"]["name"] for obj in all_policies}
    in_force = there & {obj["spec"]["policyName"] for obj in bound}
    remedy = "install the chart with admissionPolicies.enabled: true"
    if not there:
        text = "none is installed: whoever may write Jobs or status can forge what was verified"
        return Finding(check, Outcome.WARNING, text, remedy)
    missing = sorted(wanted - in_force)
    if missing and not there - in_force:
        return _older(all_policies, there, missing)
    if missing:
        text = f"missing, or without a binding: {', '.join(missing)}"
        return Finding(check, Outcome.BAD, text, remedy)
    return Finding(check, Outcome.GOOD, f"all {len(wanted)} are in force")
