"""The kernel's network objects of a node: bridge, routes, rules and settings."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from tests.cluster.errors import ClusterError
from tests.cluster.layout import DNS_PORT, Layout
from tests.cluster.machine.packages import find_program, program
from tests.cluster.processes.process import run

# kube-proxy's nftables tables have fixed names: one node per machine.
PROXY_TABLES = (("ip", "kube-proxy"), ("ip6", "kube-proxy"))

# Without them packets between pods meet no rule.
BRIDGED = ("net.bridge.bridge-nf-call-iptables", "net.bridge.bridge-nf-call-ip6tables")

# What kubelet, kube-proxy and we set on start, to be put back afterwards.
SYSCTLS = (
    *BRIDGED,
    "kernel.keys.root_maxbytes",
    "kernel.keys.root_maxkeys",
    "kernel.panic",
    "kernel.panic_on_oops",
    "net.ipv4.ip_forward",
    "vm.overcommit_memory",
    "vm.panic_on_oom",
)


def read_sysctls() -> dict[str, str]:
    """Present values of the settings that a node changes."""
    values = {name: _sysctl(name) for name in SYSCTLS}
    return {name: path.read_text().strip() for name, path in values.items() if path.exists()}


def write_sysctls(values: dict[str, str]) -> None:
    """Set values; those that already hold are not written."""
    for name, value in values.items():
        path = _sysctl(name)
        if path.read_text().strip() != value:
            path.write_text(value)


def create_bridge(layout: Layout) -> None:
    """Bridge with the node's address, a route for services and masquerading for pods.

    The rules live in a table of our own, so that taking them away is one command. The bridge
    plugin's own masquerading would leave iptables chains behind.
    """
    ip = program("ip")
    bridge = layout.bridge
    run([ip, "link", "add", bridge, "type", "bridge"])
    run([ip, "addr", "add", f"{layout.node_address}/{layout.pods.prefixlen}", "dev", bridge])
    run([ip, "link", "set", bridge, "up"])
    # kube-proxy rewrites the destination before the packet leaves: the device does not matter,
    # but without any route the kernel would refuse the connection.
    run([ip, "route", "add", str(layout.services), "dev", bridge])
    run([program("nft"), "-f", "-"], stdin=masquerade_rules(layout))
    write_sysctls({"net.ipv4.ip_forward": "1", **dict.fromkeys(BRIDGED, "1")})


def check_bridged_packets() -> None:
    """ClusterError when the kernel cannot show packets between pods to its rules."""
    if not all(_sysctl(name).exists() for name in BRIDGED):
        raise ClusterError(
            "NoBridgeFilter",
            "the kernel hides packets within a bridge from nftables, and so from kube-proxy and "
            "from network policies",
            "load its module, as root: modprobe br_netfilter",
        )


def check_dns_port(address: str) -> None:
    """ClusterError when somebody has the DNS port of an address that is there."""
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(socket.AF_INET, kind) as candidate:
            # As CoreDNS does: what a cluster before left in TIME_WAIT is no hindrance.
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, kind == socket.SOCK_STREAM)
            try:
                candidate.bind((address, DNS_PORT))
            except OSError as error:
                raise ClusterError(
                    "DNSPortTaken",
                    f"the cluster's DNS cannot have port {DNS_PORT} of {address}: {error.strerror}",
                    "let the machine's own DNS server listen on other addresses only; find it "
                    f"with: ss -lnp sport = :{DNS_PORT}",
                ) from error


def masquerade_rules(layout: Layout) -> str:
    """Rules of nftables that let pods reach what lies outside the cluster."""
    return f"""table ip {layout.network} {{
  chain postrouting {{
    type nat hook postrouting priority srcnat; policy accept;
    ip saddr {layout.pods} oifname != "{layout.bridge}" ip daddr != {layout.pods} masquerade
  }}
}}
"""


def remove_network(layout: Layout, tables: set[tuple[str, str]]) -> None:
    """Take away bridge, routes, rules and connection tracking entries, as far as there are any."""
    ip, nft = program("ip"), program("nft")
    if layout.bridge in links():
        run([ip, "link", "delete", layout.bridge])
    for family, name in tables & nft_tables():
        run([nft, "delete", "table", family, name])
    _forget_connections(layout)


def links() -> set[str]:
    """Names of the machine's network devices."""
    return set(_names(json.loads(run([program("ip"), "-json", "link", "show"]) or "[]")))


def nft_tables() -> set[tuple[str, str]]:
    """Family and name of every nftables table."""
    listing = json.loads(run([program("nft"), "--json", "list", "tables"]))
    tables = [entry["table"] for entry in listing["nftables"] if "table" in entry]
    return {(table["family"], table["name"]) for table in tables}


def _names(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["ifname"] for entry in entries]


def _forget_connections(layout: Layout) -> None:
    # An old entry would send a new cluster's first packets to an address of the old one.
    conntrack = find_program("conntrack")
    if conntrack is None:
        return
    for network in (layout.services, layout.pods):
        for option in ("--orig-src", "--orig-dst"):
            try:
                run([conntrack, "-D", option, str(network)])
            except ClusterError:
                continue  # it fails when there is nothing to delete


def _sysctl(name: str) -> Path:
    return Path("/proc/sys") / name.replace(".", "/")
