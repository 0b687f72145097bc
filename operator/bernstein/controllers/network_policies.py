"""NetworkPolicies of a Project: what its pods may connect to, and that nothing connects to them.

They name pods by the labels of our Jobs, and take effect where the cluster's network enforces
them. Names are looked up where the operator is told that the cluster's DNS is. A NetworkPolicy
cannot name hosts: "the git server" is the port of its address, unless the Project says where it is.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from bernstein.api.pod import AGENT, CHECK, FORMAT, JUDGE, OUR_JOBS, PROBE
from bernstein.api.programs.forge import FORGE_JOBS
from bernstein.api.project import Project
from bernstein.api.projects.network import EgressRule
from bernstein.controllers.job_views import OWNER
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.owners import owner_reference
from bernstein.core.verification.expected.required import formatter
from bernstein.kube.resource import NETWORK_POLICIES, Key, Object, controller_of
from bernstein.resources import PROJECTS

_DNS_PORTS = (53, 5353)
"""Policies name the ports of pods, and OpenShift's DNS pods listen on 5353."""
_CLOSED: Object = {"policyTypes": ["Ingress"]}
_NAMESPACE = "kubernetes.io/metadata.name"


def build(project: Project, settings: OperatorSettings) -> list[Object]:
    """The Project's NetworkPolicies, spelled as the API server stores them."""
    network = project.spec.network
    if network.policy == "Unmanaged":
        return []
    git = [_dns(settings), *_git(project)]
    # Without models nobody asks any, and not every Project formats, or has a forge; what an older
    # release has made stays as it is.
    ours = (
        *(*OUR_JOBS, PROBE),
        *([JUDGE] if project.spec.models else []),
        *([FORMAT] if formatter(project.spec) is not None else []),
    )
    forge = FORGE_JOBS if project.spec.repository.forge is not None else ()
    policies = [
        # An Ingress that is not there lets nobody in: our pods serve nothing.
        _policy(project, "closed", (AGENT, CHECK, *ours, *forge), _CLOSED),
        _policy(project, "git", ours, _to(git)),
        _policy(project, "checks", (CHECK,), _to([*git, *_dumped(network.checks or ())])),
    ]
    if project.spec.models:
        policies.append(_policy(project, "judge", (JUDGE,), _to(_models(project))))
    if forge:
        policies.append(_policy(project, "forge", forge, _to([_dns(settings), *_forge(project)])))
    if network.agents is not None:
        allowed = [*git, *_callback(settings), *_dumped(network.agents)]
        policies.append(_policy(project, "agents", (AGENT,), _to(allowed)))
    return policies


def _to(egress: list[Object]) -> Object:
    """Connections to these, and no other."""
    return {"policyTypes": ["Egress"], "egress": egress}


def _policy(project: Project, pods: str, jobs: tuple[str, ...], rules: Object) -> Object:
    meta = project.metadata
    # To block the owner's deletion would need a right on the Project's finalizers.
    owner = owner_reference(PROJECTS.kind, meta.name, meta.uid) | {"blockOwnerDeletion": False}
    return {
        "metadata": {
            "name": names.network_policy(meta.name, pods),
            "namespace": meta.namespace,
            "ownerReferences": [owner],
        },
        "spec": {
            "podSelector": {
                "matchLabels": {labels.PROJECT: meta.name},
                "matchExpressions": [{"key": labels.JOB, "operator": "In", "values": list(jobs)}],
            },
            **rules,
        },
    }


def _dns(settings: OperatorSettings) -> Object:
    """Names, of the cluster's own servers alone: any other that answers on these ports takes what
    it is asked as data."""
    return {
        "to": [peer.dump() for peer in settings.dns],
        "ports": [_port(p, protocol) for p in _DNS_PORTS for protocol in ("UDP", "TCP")],
    }


def _git(project: Project) -> list[Object]:
    if project.spec.network.git is not None:
        return _dumped(project.spec.network.git)
    return [{"ports": [_port(urlsplit(project.spec.repository.url).port or 443)]}]


def _models(project: Project) -> list[Object]:
    """Where models are asked: the ports of their addresses, unless the Project says where."""
    if project.spec.network.models is not None:
        return _dumped(project.spec.network.models)
    ports = {urlsplit(model.base_url or "").port or 443 for model in project.spec.models}
    return [{"ports": [_port(port) for port in sorted(ports)]}]


def _forge(project: Project) -> list[Object]:
    """Where the forge is asked: the port of its API's address, unless the Project says where."""
    if project.spec.network.forge is not None:
        return _dumped(project.spec.network.forge)
    repository = project.spec.repository
    api = repository.forge.api if repository.forge is not None else None
    return [{"ports": [_port(urlsplit(api or repository.url).port or 443)]}]


def _callback(settings: OperatorSettings) -> list[Object]:
    """Where recorders report: the port of the server, in its namespace if the address names it."""
    if settings.callback_url is None:
        return []
    url = urlsplit(settings.callback_url)
    rule: Object = {"ports": [_port(url.port or 443)]}
    host = (url.hostname or "").split(".")
    if host[2:3] == ["svc"]:
        rule["to"] = [{"namespaceSelector": {"matchLabels": {_NAMESPACE: host[1]}}}]
    return [rule]


def _port(port: int, protocol: str = "TCP") -> Object:
    return {"port": port, "protocol": protocol}


def _dumped(rules: tuple[EgressRule, ...]) -> list[dict[str, Any]]:
    return [rule.dump() for rule in rules]


async def ensure(owner: Key, project: Project, context: Context) -> None:
    """Makes or corrects the Project's policies, before any pod that they limit is made.

    Raises NameConflict.
    """
    for policy in build(project, context.settings):
        key = Key(owner.namespace, policy["metadata"]["name"])
        live = context.caches.network_policies.get(key)
        if live is None or (controller_of(live) or {}).get("uid") != project.metadata.uid:
            live = await context.writer.create(owner, NETWORK_POLICIES, policy)
        await context.writer.set_spec(owner, NETWORK_POLICIES, policy, live)


async def remove_others(owner: Key, project: Project, context: Context) -> None:
    """Deletes policies that the Project has no use for any more."""
    needed = {policy["metadata"]["name"] for policy in build(project, context.settings)}
    for live in context.caches.network_policies.by_index(OWNER, project.metadata.uid):
        if live["metadata"]["name"] not in needed:
            await context.writer.delete(owner, NETWORK_POLICIES, live)
