"""The tier without a node: etcd, API server and controller manager as processes."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.cluster.binaries.build import Binaries, ensure_binaries
from tests.cluster.control_plane import parts, pki
from tests.cluster.control_plane.addresses import free_ports, free_slot, machine_routes
from tests.cluster.control_plane.api import ApiClient, plain_health
from tests.cluster.errors import ClusterError
from tests.cluster.interface import ComponentStatus, Status
from tests.cluster.layout import CONTROL_PLANE_PORTS, Layout, checked_name, cluster_id
from tests.cluster.machine import paths
from tests.cluster.machine.lock import locked
from tests.cluster.machine.packages import CONTROL_PLANE, ensure_packages
from tests.cluster.processes import record as records
from tests.cluster.processes.process import alive, marked
from tests.cluster.processes.record import Record
from tests.cluster.processes.supervisor import Supervisor
from tests.cluster.progress import say, step

START_TIMEOUT = 90.0


class ControlPlane:
    """A real API with RBAC, CEL, admission, Jobs and garbage collection, but no containers.

    Needs no privileges. The base of LocalCluster, which adds a node.
    """

    provider = "control-plane"
    packages = CONTROL_PLANE
    port_names: Sequence[str] = CONTROL_PLANE_PORTS
    has_node = False

    def __init__(self, name: str = "control-plane") -> None:
        self.name = checked_name(name)
        root = paths.clusters_root() / name
        self._folder = root / "state"
        self._logs = root / "logs"
        self._id = cluster_id(name, root)
        self._supervisor = Supervisor(self._id, self._folder / "record.json", self._logs)

    @property
    def kubeconfig(self) -> Path:
        return self._folder / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        return self._logs / "audit.jsonl"

    def up(self) -> None:
        with self._lock():
            ensure_packages(self.packages)
            binaries = ensure_binaries()
            if self._is_up(binaries):
                say(f"cluster {self.name} is up already")
                return
            self._remove_leftovers()
            with step(f"starting the {self.provider} cluster {self.name}"):
                try:
                    layout = self._plan(binaries)
                    self._start(layout, binaries)
                    self._supervisor.set_ready()
                except BaseException:
                    self._remove_leftovers()
                    raise

    def down(self) -> None:
        with self._lock():
            if self._folder.exists() or self.leftovers():
                with step(f"removing cluster {self.name}"):
                    self._remove_leftovers()
            else:
                say(f"cluster {self.name} is not there")

    def load_images(self, sources: Sequence[str]) -> None:
        raise self._has_no_node(f"load {', '.join(sources)}")

    def kill_container(self, pod: str, container: str, namespace: str = "default") -> None:
        raise self._has_no_node(f"kill container {container} of pod {namespace}/{pod}")

    def kill(self, component: str) -> None:
        with self._lock():
            self._supervisor.kill(component)

    def start(self, component: str) -> None:
        with self._lock():
            layout = self._layout()
            self._supervisor.restart(component)
            ready = self._conditions(layout).get(component, lambda: True)
            self._supervisor.wait_ready({component: ready}, START_TIMEOUT)

    def status(self) -> Status:
        record = self._supervisor.record()
        if record is None:
            return Status(self.name, self.provider, ready=False, folder=str(self._folder))
        layout = self._layout()
        components = [
            ComponentStatus(process.name, alive(process), process.pid, process.log)
            for process in record.processes.values()
        ]
        complete = record.ready and all(component.running for component in components)
        return Status(
            self.name,
            self.provider,
            ready=complete and ApiClient(layout).answers("/readyz"),
            server=layout.server,
            kubeconfig=str(self.kubeconfig),
            audit_log=str(self.audit_log),
            folder=str(self._folder),
            components=components,
        )

    # --- what LocalCluster extends

    def _start(self, layout: Layout, binaries: Binaries) -> None:
        """Start all components and wait until each is ready."""
        self._prepare(layout)
        self._start_etcd_and_api(layout, binaries)
        self._supervisor.start(
            "kube-controller-manager", parts.kube_controller_manager(layout, binaries)
        )
        self._wait(layout)

    def _conditions(self, layout: Layout) -> Mapping[str, Callable[[], bool]]:
        """Component -> whether it does its work."""
        api = ApiClient(layout)
        manager = layout.ports["kube-controller-manager"]
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        return {
            "etcd": lambda: plain_health(
                parts.LOOPBACK, layout.ports["etcd"], "/health", tls=False
            ),
            "kube-apiserver": lambda: api.answers("/readyz"),
            # Pods need the account that the controller makes, and it proves that it acts.
            "kube-controller-manager": lambda: (
                plain_health(parts.LOOPBACK, manager, "/healthz", tls=True) and api.answers(account)
            ),
        }

    def leftovers(self) -> list[str]:
        """What of this cluster is on the machine, in words; empty when all is gone."""
        return [f"process {pid}" for pid in marked(self._id)]

    def _clear_machine(self) -> None:
        """Take away all that is no file of the cluster's folder."""
        self._supervisor.kill_everything()

    def _address(self, slot: int) -> str:  # noqa: ARG002 - a node's address depends on it
        """Address on which the API server listens."""
        return parts.LOOPBACK

    # --- shared steps

    def _prepare(self, layout: Layout) -> None:
        shutil.rmtree(self._logs, ignore_errors=True)
        self._logs.mkdir(parents=True)
        pki.create(layout, node=self.has_node)
        self._write_json("audit-policy.json", parts.audit_policy())

    def _start_etcd_and_api(self, layout: Layout, binaries: Binaries) -> None:
        self._supervisor.start("etcd", parts.etcd(layout, binaries))
        self._wait(layout, "etcd")
        api = parts.kube_apiserver(layout, binaries, node=self.has_node)
        self._supervisor.start("kube-apiserver", api)
        self._wait(layout, "kube-apiserver")
        say(f"the API server is ready: {layout.server}")

    def _wait(self, layout: Layout, *components: str) -> None:
        conditions = self._conditions(layout)
        names = components or tuple(conditions)
        wanted = {name: conditions[name] for name in names}
        self._supervisor.wait_ready(wanted, START_TIMEOUT)

    def _write_json(self, name: str, document: Mapping[str, object]) -> None:
        (self._folder / name).write_text(json.dumps(document, indent=1))

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with locked(paths.clusters_root() / f"{self.name}.lock", f"cluster {self.name}"):
            yield

    def _plan(self, binaries: Binaries) -> Layout:
        """Choose subnets and ports that nobody has, and write them down."""
        root = paths.clusters_root()
        with locked(root / "plan.lock", "the choice of ports"):
            others = [records.load(file) for file in root.glob("*/state/record.json")]
            known = [other for other in others if other is not None]
            slot = free_slot({other.slot for other in known}, machine_routes())
            taken = {port for other in known for port in other.ports.values()}
            record = Record(
                provider=self.provider,
                slot=slot,
                address=self._address(slot),
                ports=free_ports(self.port_names, taken),
                build=binaries.folder.name,
            )
            self._supervisor.write(record)
        return self._layout()

    def _layout(self) -> Layout:
        return self._layout_of(self._supervisor.known())

    def _layout_of(self, record: Record) -> Layout:
        return Layout(
            id=self._id,
            folder=self._folder,
            logs=self._logs,
            run=paths.runtime_folder(self._id),
            image_store=paths.image_store(self.name),
            slot=record.slot,
            ports=record.ports,
            address=record.address,
        )

    def _is_up(self, binaries: Binaries) -> bool:
        record = self._supervisor.record()
        return (
            record is not None
            and record.build == binaries.folder.name
            and record.provider == self.provider
            and self.status().ready
        )

    def _remove_leftovers(self) -> None:
        """Remove all that is known of this cluster, but not its logs."""
        self._clear_machine()
        if remaining := self.leftovers():
            raise ClusterError(
                "LeftoversRemain",
                f"cluster {self.name} left behind: {', '.join(remaining)}",
                "remove them by hand, or restart the machine",
            )
        if self._folder.exists():
            shutil.rmtree(self._folder)

    def _has_no_node(self, wish: str) -> ClusterError:
        return ClusterError(
            "NoNode",
            f"the {self.provider} cluster has no node: it cannot {wish}",
            "use the provider local or kind",
        )
