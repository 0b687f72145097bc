from __future__ import annotations

import ipaddress
import socket

import pytest

from tests.cluster.control_plane.addresses import free_ports, free_slot
from tests.cluster.errors import ClusterError
from tests.cluster.layout import POD_NETWORK, SERVICE_NETWORK, SLOTS, subnet


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
