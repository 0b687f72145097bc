"""Control plane, scheduler and KWOK as processes: pods run and end, but have no containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tests.cluster.binaries.build import Binaries
from tests.cluster.binaries.programs import KWOK
from tests.cluster.control_plane import parts as control_plane_parts
from tests.cluster.control_plane.api import ApiClient, plain_health
from tests.cluster.control_plane.cluster import ControlPlane
from tests.cluster.kwok import parts, stages
from tests.cluster.layout import CONTROL_PLANE_PORTS, KWOK_PORTS, NODE_NAME, Layout
from tests.cluster.local import parts as node_parts


class KwokCluster(ControlPlane):
    """For measurements: as many Jobs as the control plane can carry, on a node that KWOK plays.

    It writes no audit log, which would be part of the API server's CPU. Needs no privileges.
    """

    provider = "kwok"
    port_names: Sequence[str] = (*CONTROL_PLANE_PORTS, *KWOK_PORTS)
    # There are certificates for a scheduler and for whoever asks a kubelet.
    has_node = True

    def __init__(self, name: str = "kwok") -> None:
        super().__init__(name)

    def up(self) -> None:
        KWOK.ensure()  # before the lock of the cluster: it takes minutes
        super().up()

    def _prepare(self, layout: Layout) -> None:
        super()._prepare(layout)
        self._write_json("audit-policy.json", parts.no_audit())
        self._write_json("kube-scheduler.json", node_parts.kube_scheduler_config(layout))
        parts.stage_file(layout).write_text(stages.as_yaml(stages.all_stages()))

    def _start(self, layout: Layout, binaries: Binaries) -> None:
        self._prepare(layout)
        self._start_etcd_and_api(layout, binaries)
        ApiClient(layout).create("/api/v1/nodes", parts.node())
        for name, command in (
            (
                "kube-controller-manager",
                control_plane_parts.kube_controller_manager(layout, binaries),
            ),
            ("kube-scheduler", node_parts.kube_scheduler(layout, binaries)),
            ("kwok", parts.kwok(layout, KWOK.ensure())),
        ):
            self._supervisor.start(name, command)
        self._wait(layout)

    def _conditions(self, layout: Layout) -> Mapping[str, Callable[[], bool]]:
        """KWOK works when its node is Ready."""
        loopback = control_plane_parts.LOOPBACK
        scheduler = layout.ports["kube-scheduler"]
        api = ApiClient(layout)
        return {
            **super()._conditions(layout),
            "kube-scheduler": lambda: plain_health(loopback, scheduler, "/healthz", tls=True),
            "kwok": lambda: parts.is_ready(api.get_json(f"/api/v1/nodes/{NODE_NAME}")),
        }
