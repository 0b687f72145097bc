"""The interface that every provider of clusters has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

PROCESSES_OF_A_POD = 1024
"""So many may run at a time, threads included: else one pod could take all of the machine's."""


@dataclass(frozen=True)
class ComponentStatus:
    """One part of a cluster; `pid` is 0 and `log` empty where the provider does not know them."""

    name: str
    running: bool
    pid: int = 0
    log: str = ""


@dataclass(frozen=True)
class Status:
    """What a cluster is doing now. `ready`: all components run and the API server says so."""

    name: str
    provider: str
    ready: bool
    server: str = ""
    kubeconfig: str = ""
    audit_log: str = ""
    folder: str = ""
    components: list[ComponentStatus] = field(default_factory=list)


class Cluster(Protocol):
    """A real Kubernetes that can be brought up, hurt and taken down.

    All methods raise ClusterError with a reason, a message and a remedy.
    """

    @property
    def name(self) -> str:
        """Name that tells clusters of one machine apart."""

    @property
    def provider(self) -> str:
        """kind, local, control-plane or kwok."""

    @property
    def kubeconfig(self) -> Path:
        """File with the administrator's access; exists once the cluster is up."""

    @property
    def audit_log(self) -> Path:
        """JSON lines (audit.k8s.io/v1 Event), one per finished write to the API."""

    def up(self) -> None:
        """Start, after removing what an earlier run left; returns when the cluster is usable.

        A cluster that is up and ready already stays as it is.
        """

    def down(self) -> None:
        """Stop, and leave nothing on the machine but caches and logs."""

    def load_images(self, sources: Sequence[str]) -> None:
        """Make images known to the node: paths of `docker save` archives, or names of a Docker
        engine's images. What is there already is not loaded again."""

    def kill(self, component: str) -> None:
        """Kill a component such as kube-apiserver or kubelet with SIGKILL."""

    def start(self, component: str) -> None:
        """Start a killed component again, and wait until it is ready."""

    def kill_container(self, pod: str, container: str, namespace: str = "default") -> None:
        """Kill the first process of a pod's container with SIGKILL, from outside."""

    def status(self) -> Status:
        """What runs now."""
