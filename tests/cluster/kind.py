"""Clusters by kind, where a Docker engine can pull images."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.control_plane.parts import audit_policy
from tests.cluster.errors import ClusterError
from tests.cluster.interface import PROCESSES_OF_A_POD, ComponentStatus, Status
from tests.cluster.layout import checked_name, cluster_id
from tests.cluster.machine import docker, paths
from tests.cluster.machine.lock import locked
from tests.cluster.machine.packages import find_program, program
from tests.cluster.processes.process import run, wait_until
from tests.cluster.progress import say, step

# By digest: a tag may be built again for another release of kind.
NODE_IMAGE = (
    "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a"
)
START_TIMEOUT = 600.0
STATIC_PODS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
COMPONENTS = (*STATIC_PODS, "containerd", "kubelet")
AUDIT_FOLDER = "/var/log/kubernetes/audit"


class KindCluster:
    """One kind node. Its kubelet and systemd start killed components again by themselves."""

    provider = "kind"

    def __init__(self, name: str = "kind") -> None:
        self.name = checked_name(name)
        self._folder = paths.clusters_root() / name / "state"
        self._logs = paths.clusters_root() / name / "logs"
        # Two caches on one machine share the Docker engine.
        self._kind_name = "bernstein-" + cluster_id(name, self._folder.parent)

    @property
    def kubeconfig(self) -> Path:
        return self._folder / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self._logs / "audit.jsonl"

    @property
    def node(self) -> str:
        """Name of the node's container."""
        return f"{self._kind_name}-control-plane"

    def up(self) -> None:
        with locked(self._lock_file(), f"cluster {self.name}"):
            if self.status().ready:
                say(f"cluster {self.name} is up already")
                return
            self._delete()
            with step(f"starting the kind cluster {self.name}"):
                self._write_configuration()
                try:
                    run(self.create_command(), timeout=START_TIMEOUT)
                except ClusterError as error:
                    self._delete()
                    raise ClusterError(
                        "KindFailed", error.message, "run the command by hand with -v 3"
                    ) from error

    def down(self) -> None:
        with locked(self._lock_file(), f"cluster {self.name}"), step(f"removing {self.name}"):
            self._delete()

    def load_images(self, sources: Sequence[str]) -> None:
        for source in sources:
            with step(f"loading {source}"):
                run(self.load_command(source), timeout=START_TIMEOUT)

    def kill(self, component: str) -> None:
        if component not in COMPONENTS:
            raise ClusterError(
                "NoSuchComponent",
                f"the cluster has no component {component}",
                f"use one of: {', '.join(COMPONENTS)}",
            )
        run(self.in_node("pkill", "--signal", "KILL", "--full", rf"(^|/){component}( |$)"))

    def start(self, component: str) -> None:
        if component not in STATIC_PODS:
            run(self.in_node("systemctl", "start", component))
        if not wait_until(self._api_ready, timeout=90, interval=1):
            raise ClusterError(
                "NotReadyInTime",
                f"the API server of {self.name} is not ready 90 s after the start of {component}",
                f"see the logs with: kind export logs --name {self._kind_name}",
            )

    def kill_container(self, pod: str, container: str, namespace: str = "default") -> None:
        found = run(
            self.in_node(
                *("crictl", "ps", "--quiet", "--state", "Running", "--name", f"^{container}$"),
                *("--label", f"io.kubernetes.pod.name={pod}"),
                *("--label", f"io.kubernetes.pod.namespace={namespace}"),
            )
        ).split()
        if not found:
            raise ClusterError(
                "ContainerNotFound",
                f"no running container {container} in pod {namespace}/{pod}",
                "see its state with: kubectl get pod -o yaml",
            )
        for task in found:
            kill = ("tasks", "kill", "--signal", "SIGKILL", task)
            run(self.in_node("ctr", "--namespace", "k8s.io", *kill))

    def status(self) -> Status:
        listed = self._node_containers()
        running = bool(listed) and self.kubeconfig.exists()
        return Status(
            self.name,
            self.provider,
            ready=running and self._api_ready(),
            kubeconfig=str(self.kubeconfig),
            audit_log=str(self.audit_log),
            folder=str(self._folder),
            components=[ComponentStatus(name, running=True) for name in listed],
        )

    # --- command lines

    def create_command(self) -> list[str]:
        """Create the cluster and wait for its node."""
        return [
            *(program("kind"), "create", "cluster", "--name", self._kind_name),
            *("--image", NODE_IMAGE, "--config", str(self._folder / "kind.json")),
            *("--kubeconfig", str(self.kubeconfig), "--wait", "180s"),
        ]

    def delete_command(self) -> list[str]:
        """Delete the cluster, if there is one."""
        kubeconfig = str(self.kubeconfig)
        return [
            program("kind"),
            "delete",
            "cluster",
            "--name",
            self._kind_name,
            "--kubeconfig",
            kubeconfig,
        ]

    def load_command(self, source: str) -> list[str]:
        """Load an archive, or an image of the Docker engine."""
        verb = "image-archive" if Path(source).is_file() else "docker-image"
        return [program("kind"), "load", verb, source, "--name", self._kind_name]

    def in_node(self, *command: str) -> list[str]:
        """Run a command in the node's container."""
        return [docker.client(), "exec", self.node, *command]

    def configuration(self) -> dict[str, object]:
        """kind's configuration: one node whose API server writes our audit log."""
        policy = "/etc/kubernetes/audit-policy.json"
        volumes = [
            {"name": "policy", "hostPath": policy, "mountPath": policy, "readOnly": True},
            {"name": "log", "hostPath": AUDIT_FOLDER, "mountPath": AUDIT_FOLDER},
        ]
        arguments = {
            "audit-policy-file": policy,
            "audit-log-path": f"{AUDIT_FOLDER}/audit.jsonl",
        }
        # Without apiVersion: kind fits it to the version that it writes for this Kubernetes.
        control_plane = {
            "kind": "ClusterConfiguration",
            "apiServer": {"extraArgs": arguments, "extraVolumes": volumes},
            "controllerManager": {"extraArgs": {"kube-api-qps": "1000", "kube-api-burst": "2000"}},
        }
        kubelet = {"kind": "KubeletConfiguration", "podPidsLimit": PROCESSES_OF_A_POD}
        node = {
            "role": "control-plane",
            "kubeadmConfigPatches": [json.dumps(patch) for patch in (control_plane, kubelet)],
            "extraMounts": [
                {
                    "hostPath": str(self._folder / "audit-policy.json"),
                    "containerPath": policy,
                    "readOnly": True,
                },
                {"hostPath": str(self._logs), "containerPath": AUDIT_FOLDER},
            ],
        }
        return {"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4", "nodes": [node]}

    # --- steps

    def _write_configuration(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._logs, ignore_errors=True)
        self._logs.mkdir(parents=True)
        (self._folder / "audit-policy.json").write_text(json.dumps(audit_policy()))
        (self._folder / "kind.json").write_text(json.dumps(self.configuration(), indent=1))

    def _delete(self) -> None:
        if self._node_containers():
            run(self.delete_command(), timeout=120)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _node_containers(self) -> list[str]:
        label = f"label=io.x-k8s.kind.cluster={self._kind_name}"
        listing = [docker.client(), "ps", "--all", "--filter", label, "--format", "{{.Names}}"]
        return run(listing).split()

    def _api_ready(self) -> bool:
        kubectl = ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "--request-timeout=5s")
        return docker.succeeds(self.in_node(*kubectl, "get", "--raw", "/readyz"), timeout=30)

    def _lock_file(self) -> Path:
        return paths.clusters_root() / f"{self.name}.lock"


def usable() -> bool:
    """Whether kind can run here: it exists, and Docker has the node's image or can pull it."""
    return find_program("kind") is not None and docker.usable(NODE_IMAGE)
