"""What the operator's command line says about the pods that it makes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bernstein.api.projects.network import NetworkPeer, Selector

_NAMESPACE = "kubernetes.io/metadata.name"


def _pods(namespace: str, label: str, value: str) -> NetworkPeer:
    return NetworkPeer(
        namespace_selector=Selector(match_labels={_NAMESPACE: namespace}),
        pod_selector=Selector(match_labels={label: value}),
    )


CLUSTER_DNS: Final = (
    _pods("kube-system", "k8s-app", "kube-dns"),
    _pods("openshift-dns", "dns.operator.openshift.io/daemonset-dns", "default"),
)
"""Where a cluster's DNS usually is."""


def peers(text: str) -> tuple[NetworkPeer, ...]:
    """Peers of a NetworkPolicy, read from a list in JSON; ValueError where it is none.

    None would be no limit: a rule without peers is one for all addresses.
    """
    try:
        given = json.loads(text)
        read = tuple(NetworkPeer.model_validate(peer) for peer in given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"no peers: {error}") from error
    if not read:
        raise ValueError("no peers: the list is empty")
    if [peer.dump() for peer in read] != given:
        raise ValueError("a peer has fields that are not known here")
    return read


@dataclass(frozen=True)
class OperatorSettings:
    """The same for all pods."""

    image: str
    """Image with everything of ours that runs in pods."""
    callback_url: str | None = None
    """Where recorders reach the server; None: they report by termination message alone."""
    callback_ca: Path | None = None
    """PEM file of the authority that signed the server's certificate. It may change at any time and
    is read anew for every session."""
    image_pull_policy: str = "IfNotPresent"
    dns: tuple[NetworkPeer, ...] = CLUSTER_DNS
    """Where pods of ours that are limited look up names."""
    heartbeat_seconds: int = 15
    checkpoint_seconds: int = 30
