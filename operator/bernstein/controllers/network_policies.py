"""NetworkPolicies of a Project: what its pods may connect to.

They name pods by the labels of our Jobs, and take effect where the cluster's network enforces
them. A NetworkPolicy cannot name hosts: "the git server" is the port of its address, unless the
Project says where it is.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from bernstein.api.network import EgressRule
from bernstein.api.project import Project
from bernstein.controllers.caches import OWNER, Caches
from bernstein.controllers.jobs.pod import owner as owner_reference
from bernstein.controllers.settings import Settings
from bernstein.controllers.writer import Writer
from bernstein.core import names
from bernstein.kube.resource import NETWORK_POLICIES, Key, Object

_GIT_JOBS = ("begin", "inspect", "land", "prepare")
_DNS_PORTS = (53, 5353)
"""Policies are about pods' ports: OpenShift's DNS pods listen on 5353."""
_NAMESPACE = "kubernetes.io/metadata.name"


def build(project: Project, settings: Settings) -> list[Object]:
    """The Project's NetworkPolicies, spelled as the API server stores them."""
    wanted = project.spec.network
    if wanted.policy == "Unmanaged":
        return []
    git = [_dns(), *_git(project)]
    found = [
        _policy(project, "git", _GIT_JOBS, git),
        _policy(project, "checks", ("check",), [*git, *_dumped(wanted.checks or ())]),
    ]
    if wanted.agents is not None:
        allowed = [*git, *_callback(settings), *_dumped(wanted.agents)]
        found.append(_policy(project, "agents", ("agent",), allowed))
    return found


def _policy(project: Project, pods: str, jobs: tuple[str, ...], egress: list[Object]) -> Object:
    meta = project.metadata
    # Nothing waits for it to be gone, so that no right on the Project's finalizers is needed.
    owner = owner_reference("Project", meta.name, meta.uid) | {"blockOwnerDeletion": False}
    return {
        "metadata": {
            "name": names.network_policy(meta.name, pods),
            "namespace": meta.namespace,
            "ownerReferences": [owner],
        },
        "spec": {
            "podSelector": {
                "matchLabels": {names.LABEL_PROJECT: meta.name},
                "matchExpressions": [
                    {"key": names.LABEL_JOB, "operator": "In", "values": list(jobs)}
                ],
            },
            "policyTypes": ["Egress"],
            "egress": egress,
        },
    }


def _dns() -> Object:
    return {"ports": [_port(p, protocol) for p in _DNS_PORTS for protocol in ("UDP", "TCP")]}


def _git(project: Project) -> list[Object]:
    if project.spec.network.git is not None:
        return _dumped(project.spec.network.git)
    return [{"ports": [_port(urlsplit(project.spec.repository.url).port or 443)]}]


def _callback(settings: Settings) -> list[Object]:
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


async def ensure(
    owner: Key, project: Project, caches: Caches, writer: Writer, settings: Settings
) -> None:
    """They are there, ahead of the pods that they are about. Raises NameConflict."""
    for policy in build(project, settings):
        key = Key(owner.namespace, policy["metadata"]["name"])
        live = caches.network_policies.get(key)
        if live is None:
            await writer.create(owner, NETWORK_POLICIES, policy)
        else:
            await writer.set_spec(owner, NETWORK_POLICIES, policy, live)


async def remove_others(
    owner: Key, project: Project, caches: Caches, writer: Writer, settings: Settings
) -> None:
    """Deletes those that the Project has no use for any more."""
    wanted = {policy["metadata"]["name"] for policy in build(project, settings)}
    for live in caches.network_policies.by_index(OWNER, project.metadata.uid):
        if live["metadata"]["name"] not in wanted:
            await writer.delete(owner, NETWORK_POLICIES, live)
