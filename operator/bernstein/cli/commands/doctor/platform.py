"""The cluster below it all: its version, whether its network enforces what we limit, and whether
anybody can read the operator's metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from bernstein.cli.commands.doctor.finding import Finding, Outcome, listed, unreadable
from bernstein.core.sanitise import line
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import Object, Resource

LEAST: Final = (1, 31)
"""Kubernetes, as the chart asks for it: rules on addresses in CRDs."""
DAEMON_SETS = Resource("apps", "v1", "daemonsets", "DaemonSet")
SERVICES = Resource("", "v1", "services", "Service")
ENDPOINT_SLICES = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
_ENFORCE: Final[Mapping[str, str]] = {
    "anetd": "Dataplane V2",
    "antrea-agent": "Antrea",
    "azure-npm": "Azure NPM",
    "calico-node": "Calico",
    "canal": "Canal",
    "cilium": "Cilium",
    "kube-network-policies": "kube-network-policies",
    "kube-router": "kube-router",
    "ovnkube-node": "OVN-Kubernetes",
    "weave-net": "Weave Net",
}
"""Networks that enforce NetworkPolicies, by the name of their DaemonSet."""
_MAY: Final[Mapping[str, str]] = {
    "aws-node": "the Amazon VPC CNI, only with enableNetworkPolicy",
    "kindnet": "kindnet, only in kind 0.24 or newer",
    "kube-flannel-ds": "Flannel, only beside another one that does",
}
"""Those that do so in some versions or settings, or not by themselves."""
_SHOWN = 100
_TRY = (
    "the page 'Security' says what is open then; try it: a pod that a NetworkPolicy with "
    "`policyTypes: [Egress]` selects must reach nobody"
)
_NUMBERS = re.compile(r"v([0-9]{1,4})\.([0-9]{1,4})")


class _Plain(Resource):
    """What the API server serves beside its groups: anybody who is logged in may read it."""

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        del namespace, name, subresource
        return f"/{self.plural}"


VERSION = _Plain("", "", "version", "Info", namespaced=False)


async def version(client: Client) -> Finding:
    """Whether Kubernetes is new enough."""
    check = "version"
    try:
        info = await client.get(VERSION, "version")
    except (Forbidden, NotFound):
        return unreadable(check, "the version of the API server")
    told = line(str(info.get("gitVersion") or ""), _SHOWN)
    numbers = _NUMBERS.match(told)
    if numbers is None:
        text = f"the API server says '{told}', which tells no version"
        return Finding(check, Outcome.UNKNOWN, text, "look at `kubectl version`")
    least = ".".join(map(str, LEAST))
    if (int(numbers[1]), int(numbers[2])) < LEAST:
        text = f"Kubernetes {told} is too old: {least} is the oldest that knows what the CRDs ask"
        return Finding(check, Outcome.BAD, text, f"upgrade the cluster to {least} or newer")
    return Finding(check, Outcome.GOOD, f"Kubernetes {told}")


async def network(client: Client) -> Finding:
    """Whether the network enforces NetworkPolicies, by what of it runs. It is not tried."""
    check = "network"
    found = await listed(client, DAEMON_SETS)
    if found is None:
        what = "DaemonSets of all namespaces, which tell whether NetworkPolicies are enforced"
        return unreadable(check, what)
    running = {obj["metadata"]["name"] for obj in found if _is_ready(obj)}
    enforce = sorted(words for name, words in _ENFORCE.items() if name in running)
    if enforce:
        text = f"NetworkPolicies are enforced by {' and '.join(enforce)}"
        return Finding(check, Outcome.GOOD, text)
    may = sorted(words for name, words in _MAY.items() if name in running)
    if may:
        text = f"nobody can tell whether NetworkPolicies are enforced: by {'; by '.join(may)}"
        return Finding(check, Outcome.WARNING, text, _TRY)
    text = "no network is known here that enforces NetworkPolicies"
    return Finding(check, Outcome.UNKNOWN, text, _TRY)


def _is_ready(daemons: Object) -> bool:
    return bool((daemons.get("status") or {}).get("numberReady"))


async def metrics(client: Client, namespace: str, operator: str) -> Finding:
    """Whether the operator's metrics are served. `operator`: the name of its Lease, which that of
    its Service begins like."""
    check, name = "metrics", f"{operator}-metrics"
    subject = f"{namespace}/{name}"
    try:
        await client.get(SERVICES, name, namespace)
        slices = await client.list(
            ENDPOINT_SLICES, namespace, label_selector=f"kubernetes.io/service-name={name}"
        )
    except Forbidden:
        return unreadable(check, f"Services and EndpointSlices in namespace '{namespace}'", subject)
    except NotFound:
        text = f"there is no Service {subject}: nobody can scrape the operator"
        remedy = "install the chart again, or name the operator's Lease with --lease"
        return Finding(check, Outcome.WARNING, text, remedy, subject)
    if not _addresses(slices.items):
        text = f"no pod that is ready stands behind the Service {subject}"
        remedy = f"`kubectl -n {namespace} get pods` says which are not, and their logs why"
        return Finding(check, Outcome.WARNING, text, remedy, subject)
    return Finding(check, Outcome.GOOD, f"the Service {subject} serves them", subject=subject)


def _addresses(slices: Sequence[Object]) -> int:
    """Those that are ready; one of which that is not known is, as for every reader of slices."""
    endpoints = [each for obj in slices for each in obj.get("endpoints") or ()]
    return sum((each.get("conditions") or {}).get("ready") is not False for each in endpoints)
