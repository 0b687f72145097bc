"""Command lines and configuration of a local cluster's components: what other parts rely on."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from tests.cluster.binaries.build import Binaries
from tests.cluster.control_plane import parts as control_plane_parts
from tests.cluster.layout import SOCKET_PATH_LIMIT, Layout
from tests.cluster.local import parts


def all_text(layout: Layout, binaries: Binaries) -> str:
    """Everything that a local cluster starts and writes."""
    commands = [
        control_plane_parts.etcd(layout, binaries),
        control_plane_parts.kube_apiserver(layout, binaries, node=True),
        control_plane_parts.kube_controller_manager(layout, binaries),
        parts.kubelet(layout, binaries),
        parts.kube_proxy(layout, binaries),
        parts.kube_scheduler(layout, binaries),
        parts.coredns(layout, binaries),
        parts.network_policy(layout, "/usr/bin/python3"),
    ]
    configurations = [
        parts.kubelet_config(layout),
        parts.kube_proxy_config(layout),
        parts.kube_scheduler_config(layout),
        parts.cni_config(layout),
    ]
    return "\n".join(
        [
            *(" ".join(command) for command in commands),
            *map(json.dumps, configurations),
            parts.corefile(layout, upstream=True),
            parts.containerd_config(layout, "pause:1"),
        ]
    )


def test_every_planned_port_is_used(layout: Layout, binaries: Binaries) -> None:
    text = all_text(layout, binaries)
    assert [name for name, port in layout.ports.items() if str(port) not in text] == []


@pytest.mark.parametrize("port", ["6443", "2379", "2380", "10250", "10256", "10257", "10259"])
def test_no_fixed_port_is_left(layout: Layout, binaries: Binaries, port: str) -> None:
    assert f":{port}" not in all_text(layout, binaries)
    assert f"={port}" not in all_text(layout, binaries)


def test_nothing_listens_on_all_addresses(layout: Layout, binaries: Binaries) -> None:
    text = all_text(layout, binaries).replace('"dst": "0.0.0.0/0"', "")
    assert "0.0.0.0" not in text  # noqa: S104


def test_kubelet_keeps_to_the_clusters_own_cgroup_and_folders(layout: Layout) -> None:
    config = parts.kubelet_config(layout)
    assert config["cgroupRoot"] == f"/bernstein-{layout.id}"
    assert config["makeIPTablesUtilChains"] is False
    for folder in ("podLogsDir", "volumePluginDir", "tlsCertFile"):
        assert str(config[folder]).startswith(str(layout.folder))


def test_a_pod_takes_no_more_than_its_share_of_processes(layout: Layout) -> None:
    assert parts.kubelet_config(layout)["podPidsLimit"] == 1024


def test_containerd_keeps_images_and_forgets_the_rest(layout: Layout) -> None:
    text = parts.containerd_config(layout, "pause:1")
    config = tomllib.loads(text)
    assert config["root"] == str(layout.image_store)
    assert config["state"].startswith(str(layout.run))
    cri = config["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["sandbox_image"] == "pause:1"
    assert cri["netns_mounts_under_state_dir"] is True
    assert cri["cni"]["bin_dir"] == str(layout.cni_plugins)


def test_pods_get_addresses_of_the_clusters_subnet_without_iptables(layout: Layout) -> None:
    config: Any = parts.cni_config(layout)
    bridge = config["plugins"][0]
    assert (bridge["bridge"], bridge["ipMasq"]) == (layout.bridge, False)
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.201.32.0/20", "gateway": "10.201.32.1"}]]


def test_policies_come_after_the_address_and_their_plugin_asks_where_the_engine_listens(
    layout: Layout,
) -> None:
    config: Any = parts.cni_config(layout)
    engine = parts.network_policy(layout, "/usr/bin/python3")
    last = config["plugins"][-1]
    assert last["type"] == parts.POLICY_PLUGIN
    assert f"--socket={last['socket']}" in engine
    assert len(last["socket"]) <= SOCKET_PATH_LIMIT


def test_engine_of_policies_may_only_watch_what_it_needs() -> None:
    (_, role), (_, binding) = parts.network_policy_objects()
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": ["list", "watch"]},
        {
            "apiGroups": ["networking.k8s.io"],
            "resources": ["networkpolicies"],
            "verbs": ["list", "watch"],
        },
    ]
    subjects: Any = binding["subjects"]
    assert [subject["name"] for subject in subjects] == ["system:network-policy"]


def test_dns_forwards_only_where_there_is_somebody_to_ask(layout: Layout) -> None:
    assert "forward . /etc/resolv.conf" in parts.corefile(layout, upstream=True)
    assert "forward ." not in parts.corefile(layout, upstream=False)


def test_dns_service_leads_to_the_process_on_the_bridge(layout: Layout) -> None:
    objects: dict[str, Any] = {
        body["kind"]: body  # type: ignore[misc]
        for _, body in parts.dns_objects(layout)
    }
    kubelet: Any = parts.kubelet_config(layout)
    assert kubelet["clusterDNS"] == [objects["Service"]["spec"]["clusterIP"]]
    slice_ = objects["EndpointSlice"]
    assert slice_["endpoints"][0]["addresses"] == [layout.node_address]
    assert {port["port"] for port in slice_["ports"]} == {53}
    assert ".:53 {\n  bind 10.201.32.1\n" in parts.corefile(layout, upstream=True)
    assert slice_["metadata"]["labels"]["kubernetes.io/service-name"] == "kube-dns"
