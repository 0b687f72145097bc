from __future__ import annotations

import ipaddress
import socket

import pytest

from tests.cluster import network
from tests.cluster.errors import ClusterError
from tests.cluster.layout import POD_NETWORK, SERVICE_NETWORK, SLOTS, Layout, subnet
from tests.cluster.network import free_ports, free_slot, masquerade_rules


def test_ports_are_free_distinct_and_nobody_elses() -> None:
    names = [f"port-{index}" for index in range(50)]
    first = free_ports(names, taken=())
    second = free_ports(names, taken=set(first.values()))
    assert list(first) == names
    assert len(set(first.values()) | set(second.values())) == 100
    with socket.socket() as probe:
        probe.bind(("", second["port-0"]))


def test_slot_of_another_cluster_is_not_taken() -> None:
    assert free_slot(taken={0, 1}, routes=[]) == 2


@pytest.mark.parametrize("network", [POD_NETWORK, SERVICE_NETWORK])
def test_subnet_that_the_machine_routes_is_not_taken(network: ipaddress.IPv4Network) -> None:
    inside = ipaddress.IPv4Network((int(subnet(network, 0)[7]), 32))
    around = ipaddress.IPv4Network("10.0.0.0/8")
    assert free_slot(taken=(), routes=[inside]) == 1
    with pytest.raises(ClusterError, match="NoFreeSubnet"):
        free_slot(taken=(), routes=[around])


def test_default_route_is_no_obstacle() -> None:
    assert free_slot(taken=(), routes=[ipaddress.IPv4Network("0.0.0.0/0")]) == 0


def test_full_machine_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ClusterError) as caught:
        free_slot(taken=range(SLOTS), routes=[])
    assert "take clusters down" in caught.value.remedy


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_somebody_elses_dns_server_is_an_error_that_says_where(
    kind: socket.SocketKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_INET, kind) as other:
        other.bind(("", 0))
        if kind == socket.SOCK_STREAM:
            other.listen()
        monkeypatch.setattr(network, "DNS_PORT", other.getsockname()[1])
        with pytest.raises(
            ClusterError, match=r"DNSPortTaken: .* of 127\.0\.0\.1: Address"
        ) as caught:
            network.check_dns_port("127.0.0.1")
        assert "ss -lnp" in caught.value.remedy
    network.check_dns_port("127.0.0.1")


def test_kernel_that_hides_packets_between_pods_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(network, "BRIDGED", ("net.bridge.there-is-no-such-setting",))
    with pytest.raises(ClusterError, match="NoBridgeFilter") as caught:
        network.check_bridged_packets()
    assert "modprobe br_netfilter" in caught.value.remedy


def test_what_a_node_changes_is_what_is_put_back() -> None:
    assert {"net.ipv4.ip_forward", *network.BRIDGED} <= set(network.SYSCTLS)


def test_only_what_leaves_the_cluster_is_masqueraded(layout: Layout) -> None:
    rules = masquerade_rules(layout)
    assert f"table ip {layout.network} " in rules
    assert (
        f'ip saddr {layout.pods} oifname != "{layout.bridge}" ip daddr != {layout.pods} masquerade'
        in rules
    )
