"""What a cluster of processes is called and where its parts are: pure values, no I/O."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.errors import ClusterError

NODE_NAME = "node-1"
DNS_PORT = 53
SOCKET_PATH_LIMIT = 107
"""Bytes of a Unix socket's path."""
CLUSTER_DOMAIN = "cluster.local"

# Each cluster takes one slot: a /20 for pods and a /20 for services.
SLOTS = 16
POD_NETWORK = ipaddress.IPv4Network("10.201.0.0/16")
SERVICE_NETWORK = ipaddress.IPv4Network("10.202.0.0/16")

CONTROL_PLANE_PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager")
NODE_PORTS = (
    "kube-scheduler",
    "kubelet",
    "kubelet-health",
    "kube-proxy-health",
    "kube-proxy-metrics",
    "coredns-ready",
)
KWOK_PORTS = ("kube-scheduler", "kwok")


def checked_name(name: str) -> str:
    """The name, if it can be part of a folder, a cgroup and a network; ClusterError BadName."""
    if re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?", name):
        return name
    raise ClusterError(
        "BadName",
        f"{name!r} cannot name a cluster",
        "use at most 20 lower-case letters, digits and dashes",
    )


def cluster_id(name: str, folder: Path) -> str:
    """Unique on the machine: two caches may each hold a cluster of the same name."""
    return f"{name}-{hashlib.sha256(str(folder).encode()).hexdigest()[:8]}"


def subnet(network: ipaddress.IPv4Network, slot: int) -> ipaddress.IPv4Network:
    """The slot's part of a network."""
    return list(network.subnets(new_prefix=20))[slot]


@dataclass(frozen=True)
class Layout:
    """Names, addresses and folders of one cluster."""

    id: str
    folder: Path
    logs: Path
    run: Path
    image_store: Path
    slot: int
    ports: Mapping[str, int]
    address: str  # of the API server

    @property
    def pki(self) -> Path:
        return self.folder / "pki"

    @property
    def audit_log(self) -> Path:
        return self.logs / "audit.jsonl"

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "kubeconfig"

    @property
    def server(self) -> str:
        return f"https://{self.address}:{self.ports['kube-apiserver']}"

    @property
    def bridge(self) -> str:
        return "bern" + self.id[-8:]

    @property
    def network(self) -> str:
        """Name of the CNI network, and of our nftables tables."""
        return f"bernstein-{self.id}"

    @property
    def cgroup(self) -> str:
        return f"/bernstein-{self.id}"

    @property
    def pods(self) -> ipaddress.IPv4Network:
        return subnet(POD_NETWORK, self.slot)

    @property
    def services(self) -> ipaddress.IPv4Network:
        return subnet(SERVICE_NETWORK, self.slot)

    @property
    def node_address(self) -> str:
        """Address of the bridge: node, API server and DNS answer on it, the outside cannot."""
        return str(self.pods[1])

    @property
    def api_service(self) -> str:
        return str(self.services[1])

    @property
    def dns_service(self) -> str:
        return str(self.services[10])

    @property
    def containerd_socket(self) -> Path:
        return self.run / "containerd.sock"

    @property
    def containerd_state(self) -> Path:
        return self.run / "containerd"

    @property
    def cni_plugins(self) -> Path:
        """Links to the machine's plugins, and our own: containerd looks into one folder only."""
        return self.folder / "cni-plugins"

    @property
    def policy_socket(self) -> Path:
        """Where the CNI plugin asks the engine of network policies."""
        return self.run / "network-policy.sock"

    @property
    def kubelet_root(self) -> Path:
        return self.folder / "kubelet"

    @property
    def kubelet_socket(self) -> Path:
        """The kubelet makes this socket under a name of ten digits at first, in its own folder."""
        return self.kubelet_root / "pod-resources" / ("0" * 10)

    @property
    def pod_logs(self) -> Path:
        return self.folder / "pod-logs"
