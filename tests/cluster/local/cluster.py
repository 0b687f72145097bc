"""A complete Kubernetes on this machine: control plane and one node, as processes of root."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from tests.cluster.binaries.build import Binaries
from tests.cluster.control_plane import parts as control_plane_parts
from tests.cluster.control_plane.api import ApiClient, plain_health
from tests.cluster.control_plane.cluster import ControlPlane
from tests.cluster.errors import ClusterError
from tests.cluster.layout import (
    CONTROL_PLANE_PORTS,
    NODE_NAME,
    NODE_PORTS,
    POD_NETWORK,
    SOCKET_PATH_LIMIT,
    Layout,
    subnet,
)
from tests.cluster.local import cgroup, image_archive, network, parts
from tests.cluster.local.containerd import Containerd
from tests.cluster.machine import mounts, paths
from tests.cluster.machine.packages import (
    NODE,
    cni_folder,
    development_python,
    find_program,
    program,
)
from tests.cluster.processes.process import alive, clusters_running, kill_all, wait_until
from tests.cluster.processes.record import Record
from tests.cluster.progress import say

CNI_CACHE = Path("/var/lib/cni/results")
CONTAINER_LOG_LINKS = Path("/var/log/containers")
# kubelet, the CNI library and containerd's shims make these, wherever their own folders are.
SHARED_FOLDERS = (
    "/run/bernstein",
    "/run/containerd/s",
    "/run/containerd",
    "/var/lib/cni/results",
    "/var/lib/cni",
    "/var/lib/kubelet/device-plugins",
    "/var/lib/kubelet",
    "/var/log/containers",
)
SHIM_SOCKETS = "io.containerd.runtime.v2.task/*/*/address"


class LocalCluster(ControlPlane):
    """Pods with containerd and runc on a bridge of their own; the machine reaches pod and
    service addresses directly. One per network namespace runs at a time: kube-proxy's tables have
    fixed names. An engine of our own enforces NetworkPolicy."""

    provider = "local"
    packages = NODE
    port_names: Sequence[str] = (*CONTROL_PLANE_PORTS, *NODE_PORTS)
    has_node = True

    def __init__(self, name: str = "local") -> None:
        super().__init__(name)
        self._store = paths.image_store(name)
        self._run = paths.runtime_folder(self._id)

    def up(self) -> None:
        if os.geteuid() != 0:
            raise ClusterError(
                "NotRoot",
                "a local node needs root for containers, cgroups and network",
                "run as root, or use the provider kind",
            )
        self._check_paths()
        super().up()

    def load_images(self, sources: Sequence[str]) -> None:
        with self._lock():
            containerd = self._containerd(self._layout())
            for source in sources:
                containerd.load(source)

    def kill_container(self, pod: str, container: str, namespace: str = "default") -> None:
        self._containerd(self._layout()).kill(pod, container, namespace)

    def container_events(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Writes what containerd tells of containers to a file, until the process is ended."""
        return self._containerd(self._layout()).events(output)

    def leftovers(self) -> list[str]:
        layout = self._names()
        found = [
            *super().leftovers(),
            *(f"mount {point}" for point in mounts.mounted([self._folder, self._run, self._store])),
            *(f"cgroup {folder}" for folder in cgroup.existing(layout.cgroup)),
            *(f"CNI state {file}" for file in CNI_CACHE.glob(f"{layout.network}-*")),
            *(f"log link {link}" for link in self._log_links()),
        ]
        if find_program("ip") and layout.bridge in network.links():
            found.append(f"bridge {layout.bridge}")
        if find_program("nft"):
            tables = self._tables(layout) & network.nft_tables()
            found += [f"nftables table {family} {name}" for family, name in tables]
        if self._run.exists():
            found.append(f"folder {self._run}")
        return found

    # --- start

    def _check_paths(self) -> None:
        """Ahead of the kubelet, which ends with a log that says nothing of the length."""
        path = os.fsencode(self._names().kubelet_socket)
        if len(path) > SOCKET_PATH_LIMIT:
            raise ClusterError(
                "PathTooLong",
                f"the kubelet's socket below {self._folder} would have a path of {len(path)} "
                f"bytes, and {SOCKET_PATH_LIMIT} are the limit of a Unix socket",
                "set XDG_CACHE_HOME to a shorter folder",
            )

    def _plan(self, binaries: Binaries) -> Layout:
        if others := self._other_nodes():
            raise ClusterError(
                "NodeInUse",
                f"another local cluster runs on this machine: {', '.join(others)}",
                "take it down first",
            )
        return super()._plan(binaries)

    def _address(self, slot: int) -> str:
        return str(subnet(POD_NETWORK, slot)[1])

    def _start(self, layout: Layout, binaries: Binaries) -> None:
        record = self._supervisor.known()
        self._supervisor.write(dataclasses.replace(record, sysctls=network.read_sysctls()))
        network.check_bridged_packets()
        python = development_python()
        self._prepare(layout)
        network.create_bridge(layout)
        network.check_dns_port(layout.node_address)
        cgroup.create(layout.cgroup)
        self._start_containerd(layout, binaries)
        self._start_etcd_and_api(layout, binaries)
        self._write_configuration(layout)
        for name, argv in (
            (
                "kube-controller-manager",
                control_plane_parts.kube_controller_manager(layout, binaries),
            ),
            ("kube-scheduler", parts.kube_scheduler(layout, binaries)),
            ("kubelet", parts.kubelet(layout, binaries)),
            ("kube-proxy", parts.kube_proxy(layout, binaries)),
            ("coredns", parts.coredns(layout, binaries)),
        ):
            self._supervisor.start(name, argv)
        api = ApiClient(layout)
        for path, body in (*parts.network_policy_objects(), *parts.dns_objects(layout)):
            api.create(path, body)
        self._supervisor.start("network-policy", parts.network_policy(layout, python))
        self._wait(layout)

    def _start_containerd(self, layout: Layout, binaries: Binaries) -> None:
        """Start containerd; remove containers that a run without an end left in its store."""
        layout.image_store.mkdir(parents=True, exist_ok=True)
        layout.run.mkdir(parents=True)
        pause = f"docker.io/library/pause:{layout.id}"
        self._write_cni(layout)
        config = layout.folder / "containerd.toml"
        config.write_text(parts.containerd_config(layout, pause))
        argv = [program("containerd"), "--config", str(config)]
        self._supervisor.start("containerd", argv)
        self._wait(layout, "containerd")
        containerd = self._containerd(layout)
        if containerd.containers():
            say("removing containers of an earlier run")
            containerd.remove_containers()
            # Its CRI plugin read them when it started, and would keep them in memory.
            self._supervisor.kill("containerd")
            self._supervisor.restart("containerd")
            self._wait(layout, "containerd")
        self._load_pause(containerd, binaries, pause)

    def _write_cni(self, layout: Layout) -> None:
        (layout.folder / "cni").mkdir()
        self._write_json("cni/10-bridge.conflist", parts.cni_config(layout))
        layout.cni_plugins.mkdir()
        for plugin in cni_folder().iterdir():
            (layout.cni_plugins / plugin.name).symlink_to(plugin)
        own = layout.cni_plugins / parts.POLICY_PLUGIN
        own.write_text(parts.policy_plugin())
        own.chmod(0o755)

    def _load_pause(self, containerd: Containerd, binaries: Binaries, reference: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            archive = Path(folder) / "pause.tar"
            files = [("/pause", binaries.path("pause").read_bytes())]
            image_archive.write(archive, reference, files, ["/pause"])
            containerd.load(str(archive))

    def _write_configuration(self, layout: Layout) -> None:
        self._write_json("kubelet.json", parts.kubelet_config(layout))
        self._write_json("kube-proxy.json", parts.kube_proxy_config(layout))
        self._write_json("kube-scheduler.json", parts.kube_scheduler_config(layout))
        text = Path("/etc/resolv.conf").read_text() if Path("/etc/resolv.conf").exists() else ""
        upstream = any(line.split()[:1] == ["nameserver"] for line in text.splitlines())
        (layout.folder / "Corefile").write_text(parts.corefile(layout, upstream=upstream))

    def _conditions(self, layout: Layout) -> Mapping[str, Callable[[], bool]]:
        ports = layout.ports
        host = control_plane_parts.LOOPBACK

        def healthy(port: str, path: str, *, tls: bool = False) -> Callable[[], bool]:
            return lambda: plain_health(host, ports[port], path, tls=tls)

        return {
            **super()._conditions(layout),
            "containerd": self._containerd(layout).answers,
            "kube-scheduler": healthy("kube-scheduler", "/healthz", tls=True),
            "kubelet": lambda: _node_ready(ApiClient(layout)),
            "kube-proxy": healthy("kube-proxy-health", "/healthz"),
            "coredns": healthy("coredns-ready", "/ready"),
            "network-policy": lambda: _listens(layout.policy_socket),
        }

    # --- removal

    def _clear_machine(self) -> None:
        layout = self._names()
        record = self._supervisor.record()
        folders = [self._folder, self._run, self._store]
        shims = self._shim_sockets()  # containerd forgets where they are
        with self._containerd_at_last(layout, record):
            cgroup.kill(layout.cgroup)
        super()._clear_machine()
        for shim in shims:
            shim.unlink(missing_ok=True)
        mounts.unmount(folders)
        cgroup.remove(layout.cgroup)
        if find_program("ip") and find_program("nft"):
            network.remove_network(layout, self._tables(layout))
        for file in [*CNI_CACHE.glob(f"{layout.network}-*"), *self._log_links()]:
            file.unlink(missing_ok=True)
        if self._run.exists():
            shutil.rmtree(self._run)
        # These belong to the machine, also where networks are apart.
        if record is not None and not clusters_running("kubelet", in_this_network=False):
            network.write_sysctls(record.sysctls)
            for folder in map(Path, SHARED_FOLDERS):
                with contextlib.suppress(OSError):  # absent, or in use by somebody else
                    folder.rmdir()

    @contextlib.contextmanager
    def _containerd_at_last(self, layout: Layout, record: Record | None) -> Iterator[None]:
        """Kill all components but containerd before the pods' processes, and let containerd
        forget the containers after them: so its store holds only images."""
        process = record.processes.get("containerd") if record else None
        if process is None or not alive(process):
            self._supervisor.kill_everything()
            yield
            return
        self._supervisor.kill_components(spare="containerd")
        yield
        try:
            self._containerd(layout).remove_containers()
        except ClusterError as error:
            say(f"containers stay in the store until the next start: {error.message}")
        kill_all([process.pid])
        wait_until(lambda: not alive(process), timeout=10)

    def _shim_sockets(self) -> list[Path]:
        files = (self._run / "containerd").glob(SHIM_SOCKETS)
        return [Path(file.read_text().strip().removeprefix("unix://")) for file in files]

    def _log_links(self) -> list[Path]:
        """Links that kubelet makes in a folder whose place is not configurable."""
        if not CONTAINER_LOG_LINKS.is_dir():
            return []
        logs = str(self._names().pod_logs)
        links = [entry for entry in CONTAINER_LOG_LINKS.iterdir() if entry.is_symlink()]
        return [link for link in links if str(link.readlink()).startswith(logs)]

    # --- facts

    def _names(self) -> Layout:
        """The layout for what hangs on the cluster's identity alone, also without a record."""
        record = self._supervisor.record()
        return self._layout_of(record or Record(self.provider, 0, "", {}, ""))

    def _containerd(self, layout: Layout) -> Containerd:
        return Containerd(layout.containerd_socket, layout.image_store)

    def _tables(self, layout: Layout) -> set[tuple[str, str]]:
        """nftables tables of this cluster: kube-proxy's have one name for all."""
        record = self._supervisor.record()
        mine = {("ip", layout.network), ("inet", layout.network)}
        if record is not None and "kube-proxy" in record.processes and not self._other_nodes():
            mine.update(network.PROXY_TABLES)
        return mine

    def _other_nodes(self) -> set[str]:
        """IDs of other local clusters in this network namespace."""
        return clusters_running("kube-proxy", in_this_network=True) - {self._id}


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


def _node_ready(api: ApiClient) -> bool:
    node = api.get_json(f"/api/v1/nodes/{NODE_NAME}")
    if not node:
        return False
    conditions = node.get("status", {}).get("conditions", [])
    tainted = node.get("spec", {}).get("taints", [])
    ready = any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)
    return ready and not tainted
