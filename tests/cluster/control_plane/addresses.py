"""Ports and subnets that nobody on the machine has yet."""

from __future__ import annotations

import ipaddress
import json
import socket
from collections.abc import Collection, Iterable

from tests.cluster.errors import ClusterError
from tests.cluster.layout import POD_NETWORK, SERVICE_NETWORK, SLOTS, subnet
from tests.cluster.machine.packages import find_program
from tests.cluster.processes.process import run


def free_ports(names: Iterable[str], taken: Collection[int]) -> dict[str, int]:
    """A free TCP port for each name, none of them in `taken`."""
    ports: dict[str, int] = {}
    sockets = []
    try:
        for name in names:
            while True:
                candidate = socket.socket()
                sockets.append(candidate)  # kept open, so that no port is found twice
                candidate.bind(("", 0))
                port = candidate.getsockname()[1]
                if port not in taken:
                    break
            ports[name] = port
    finally:
        for opened in sockets:
            opened.close()
    return ports


def free_slot(taken: Collection[int], routes: Iterable[ipaddress.IPv4Network]) -> int:
    """The first slot that no cluster has and whose subnets no route of the machine touches."""
    routed = [route for route in routes if route.prefixlen > 0]
    for slot in range(SLOTS):
        mine = (subnet(POD_NETWORK, slot), subnet(SERVICE_NETWORK, slot))
        if slot not in taken and not any(a.overlaps(b) for a in mine for b in routed):
            return slot
    raise ClusterError(
        "NoFreeSubnet",
        f"all subnets of {POD_NETWORK} and {SERVICE_NETWORK} are in use on this machine",
        "take clusters down, or remove routes to these networks",
    )


def machine_routes() -> list[ipaddress.IPv4Network]:
    """Networks that the machine routes; empty where there is no `ip` to ask."""
    ip = find_program("ip")
    if ip is None:
        return []
    found = []
    for route in json.loads(run([ip, "-json", "-4", "route", "show", "table", "all"]) or "[]"):
        destination = "0.0.0.0/0" if route["dst"] == "default" else route["dst"]
        network = ipaddress.IPv4Network(destination, strict=False)
        if network.prefixlen > 0 and not network.is_loopback:
            found.append(network)
    return found
