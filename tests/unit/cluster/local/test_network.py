from __future__ import annotations

import os
import socket

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.layout import Layout
from tests.cluster.local import network
from tests.cluster.local.network import masquerade_rules

_PORT = 61_000 + os.getpid() % 4_000
"""Beyond what the kernel hands out: nobody else gets it between one moment and the next."""


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_STREAM])
def test_somebody_elses_dns_server_is_an_error_that_says_where(
    kind: socket.SocketKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "DNS_PORT", _PORT)
    with socket.socket(socket.AF_INET, kind) as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, kind == socket.SOCK_STREAM)
        other.bind(("", _PORT))
        if kind == socket.SOCK_STREAM:
            other.listen()
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
