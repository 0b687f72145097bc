"""What the operator's command line says about the pods that it makes."""

from __future__ import annotations

import argparse
import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bernstein.api.prices import stated
from bernstein.api.project import Price
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


LINK_LOCAL: Final = ("169.254.0.0/16", "fe80::/10")
"""Among them is the address at which clouds give a machine its own credentials."""
PRIVATE: Final = (
    *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "100.64.0.0/10",  # of carriers; some clouds give it to pods
    "fc00::/7",
)
"""Where nodes, pods and Services of nearly every cluster are."""


def ranges(text: str) -> tuple[str, ...]:
    """Ranges of addresses, read from a list in JSON; ValueError where it is none.

    All addresses are none: nothing would be left to be reached, and the API server refuses it.
    """
    try:
        read = tuple(str(ipaddress.ip_network(_text(each))) for each in _list(json.loads(text)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"no ranges of addresses: {error}") from error
    if any(each.endswith("/0") for each in read):
        raise ValueError("no range of addresses may be all of them")
    return read


def _list(given: object) -> list[object]:
    if not isinstance(given, list):
        raise TypeError("it is no list")
    return given


def _text(given: object) -> str:
    """It alone: a number would be taken for an address."""
    if not isinstance(given, str):
        raise TypeError(f"{given!r} is no text")
    return given


def prices(path: str) -> tuple[Price, ...]:
    """The price table in this file; argparse.ArgumentTypeError says what is wrong with it."""
    try:
        return stated(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{path} is no table of prices: {error}") from error


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


def collector_address(text: str) -> str:
    """The base address of a collector of traces; argparse.ArgumentTypeError where it is none that
    can be asked."""
    form = "a collector's address is http://HOST:PORT or https://HOST:PORT"
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(form) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError(form)
    if parts.username is not None or parts.query or parts.fragment:
        raise argparse.ArgumentTypeError("a collector's address has no user, query or fragment")
    return text


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
    internal: tuple[str, ...] = PRIVATE
    """Addresses of nodes, pods and Services: pods that are limited reach them only where a Project
    says so, and link-local ones neither."""
    heartbeat_seconds: int = 15
    checkpoint_seconds: int = 30
