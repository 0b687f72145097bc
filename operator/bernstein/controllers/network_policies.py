"""NetworkPolicies of a Project: what its pods may connect to, and that nothing connects to them.

They name pods by the labels of our Jobs, and take effect where the cluster's network enforces
them. Names are looked up where the operator is told that the cluster's DNS is. A NetworkPolicy
cannot name hosts: "the git server" is the port of its url, outside the cluster or where the url
says it is in it, unless the Project says where it is.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from bernstein.api.pod import AGENT, CHECK, FORMAT, JUDGE, OUR_JOBS, PROBE, PRUNE
from bernstein.api.programs.account import is_ssh
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.forge_jobs import FORGE_JOBS
from bernstein.api.project import Project
from bernstein.api.projects.network import EgressRule, Proxy
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.job_views import OWNER
from bernstein.controllers.settings import LINK_LOCAL, OperatorSettings
from bernstein.controllers.wiring import Context
from bernstein.core import labels, names
from bernstein.core.owners import owner_reference, unblocking
from bernstein.core.verification.expected.required import formatter
from bernstein.kube.resource import NETWORK_POLICIES, Key, Object, controller_of
from bernstein.resources import PROJECTS
from bernstein.urls import is_direct

_DNS_PORTS = (53, 5353)
"""Policies name the ports of pods, and OpenShift's DNS pods listen on 5353."""
_CLOSED: Object = {"policyTypes": ["Ingress"]}
_NAMESPACE = "kubernetes.io/metadata.name"
_SERVICE = re.compile(r"[^.]+\.([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)\.svc(\..+)?")
"""The host of a Service: its namespace, and the cluster's domain where that is named."""


def build(project: Project, settings: OperatorSettings) -> list[Object]:
    """The Project's NetworkPolicies, spelled as the API server stores them."""
    network = project.spec.network
    if network.policy == "Unmanaged":
        return []
    git = [_dns(settings), *_git(project, settings)]
    # Without models nobody asks any, and not every Project formats, or has a forge or a cache; what
    # an older release has made stays as it is.
    ours = (
        *(*OUR_JOBS, PROBE, PRUNE),
        *([CACHE] if any(each.cache for each in project.spec.repositories) else []),
        *([JUDGE] if project.spec.models else []),
        *([FORMAT] if formatter(project.spec) is not None else []),
    )
    forge = FORGE_JOBS if any(each.forge for each in project.spec.repositories) else ()
    policies = [
        # An Ingress that is not there lets nobody in: our pods serve nothing.
        _policy(project, "closed", (AGENT, CHECK, *ours, *forge), _CLOSED),
        _policy(project, "git", ours, _to(git)),
        _policy(project, "checks", (CHECK,), _to([*git, *_dumped(network.checks or ())])),
    ]
    if project.spec.models:
        policies.append(_policy(project, "judge", (JUDGE,), _to(_models(project, settings))))
    if forge:
        policies.append(
            _policy(project, "forge", forge, _to([_dns(settings), *_forge(project, settings)]))
        )
    if network.agents is not None:
        allowed = [*git, *_callback(settings), *_dumped(network.agents)]
        policies.append(_policy(project, "agents", (AGENT,), _to(allowed)))
    return policies


def _to(egress: list[Object]) -> Object:
    """Connections to these, and no other."""
    return {"policyTypes": ["Egress"], "egress": egress}


def _policy(project: Project, pods: str, jobs: tuple[str, ...], rules: Object) -> Object:
    meta = project.metadata
    owner = unblocking(owner_reference(PROJECTS.kind, meta.name, meta.uid))
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


def _git(project: Project, settings: OperatorSettings) -> list[Object]:
    urls = [each.url for each in project.spec.repositories]
    return _reached(project, project.spec.network.git, urls, settings)


def _models(project: Project, settings: OperatorSettings) -> list[Object]:
    urls = [model.base_url or "" for model in project.spec.models]
    return _reached(project, project.spec.network.models, urls, settings)


def _forge(project: Project, settings: OperatorSettings) -> list[Object]:
    with_forge = ((each.url, each.forge) for each in project.spec.repositories)
    urls = [forge.api or url for url, forge in with_forge if forge is not None]
    return _reached(project, project.spec.network.forge, urls, settings)


def _reached(
    project: Project,
    rules: tuple[EgressRule, ...] | None,
    urls: list[str],
    settings: OperatorSettings,
) -> list[Object]:
    """The Project's rules for what is at these addresses, or what they say themselves; and the
    proxy through which some are asked. One that is empty is a provider's own: its host is not known
    here, so that it may be asked either way."""
    proxy = project.spec.network.proxy
    direct = [url for url in urls if proxy is None or not url or is_direct(url, proxy.no_proxy)]
    found = _places(direct, settings) if rules is None else _dumped(rules)
    if proxy is not None and (len(direct) < len(urls) or "" in urls):
        found.append(_to_proxy(proxy, settings))
    return found


def _to_proxy(proxy: Proxy, settings: OperatorSettings) -> Object:
    (rule,) = _places([proxy.url], settings)
    return rule if proxy.peers is None else {**rule, "to": [peer.dump() for peer in proxy.peers]}


def _places(urls: Iterable[str], settings: OperatorSettings) -> list[Object]:
    """The ports of these addresses, where each of them may be."""
    ports: dict[str, set[int]] = {}
    for address in urls:
        host, port = _host_and_port(address)
        ports.setdefault(json.dumps(_peers(host, settings)), set()).add(port)
    return [
        {"to": json.loads(peers), "ports": [_port(port) for port in sorted(found)]}
        for peers, found in sorted(ports.items())
    ]


def _host_and_port(address: str) -> tuple[str, int]:
    """Of what is no address, the usual port at no host: whoever asks there tells what is wrong."""
    usual = 22 if is_ssh(address) else 443
    try:
        url = urlsplit(address)
        return (url.hostname or "").rstrip("."), url.port or usual
    except ValueError:
        return "", usual


def _peers(host: str, settings: OperatorSettings) -> list[Object]:
    """Where a host of this name may be: a Service's in its namespace, an address that is written
    out there, and every other one outside the cluster."""
    named = _address(host)
    if named is not None:
        return [{"ipBlock": {"cidr": str(named)}}]
    service = _SERVICE.fullmatch(host)
    if service is None:
        return _outside(settings)
    namespace = {"namespaceSelector": {"matchLabels": {_NAMESPACE: service[1]}}}
    # What else is below "svc" may be the cluster's own domain, or somebody's host.
    sure = service[3] in (None, ".cluster.local")
    return [namespace, *([] if sure else _outside(settings))]


def _address(host: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    """The address that the host is; None for a name, and for what is nobody's git server."""
    try:
        found = ipaddress.ip_network(host)
    except ValueError:
        return None
    mapped = isinstance(found, ipaddress.IPv6Network) and found.network_address.ipv4_mapped
    return None if found.is_link_local or mapped else found


def _outside(settings: OperatorSettings) -> list[Object]:
    """All addresses but the cluster's own. A policy that names a Service's is asked about the pod
    or the node behind it."""
    parts = [*LINK_LOCAL, *settings.internal]
    left_out = {4: list[str](), 6: list[str]()}
    for part in dict.fromkeys(parts):
        left_out[ipaddress.ip_network(part).version].append(part)
    everywhere = {4: "0.0.0.0/0", 6: "::/0"}
    return [{"ipBlock": {"cidr": everywhere[v], "except": left_out[v]}} for v in everywhere]


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
    whole = project.whole if isinstance(project, Workplace) else project
    for policy in build(whole, context.settings):
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
