"""NetworkPolicies (networking.k8s.io/v1) as rules of nftables: pure values, no I/O.

One base chain sees every packet that a pod sends or that comes from outside, after kube-proxy has
put a Service's real address in. It leads each isolated pod's packets through a chain of its own
per direction: what no rule lets return is dropped. Packets of the machine itself never meet it,
and answers are let through by the connection that they belong to.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Object = Mapping[str, Any]

COMMENT_LIMIT = 128
"""Bytes of a comment in nftables."""


@dataclass(frozen=True)
class Direction:
    """`peers`: field of a rule with the other side; `peer`: the packet's with its address."""

    name: str
    peers: str
    peer: str

    @property
    def kind(self) -> str:
        """As in a policy's policyTypes."""
        return self.name.capitalize()


INGRESS = Direction("ingress", "from", "saddr")
EGRESS = Direction("egress", "to", "daddr")


@dataclass(frozen=True)
class Peer:
    """A match of nftables on the other side's address, "" for any, and the pods behind it."""

    match: str
    pods: Sequence[str]


@dataclass(frozen=True)
class Cluster:
    """What policies speak about: pods by their IPv4 address, namespaces by name.

    A pod of the host's network has the node's address: it is neither isolated nor selected.
    """

    policies: Sequence[Object]
    pods: Mapping[str, Object]
    namespaces: Mapping[str, Object]

    def selected(self, peer: Object, namespace: str) -> list[str]:
        """Addresses of the pods that a peer of a policy in `namespace` selects."""
        of_namespaces = peer.get("namespaceSelector")
        if of_namespaces is None:
            near = {namespace}
        else:
            spaces = self.namespaces.items()
            near = {name for name, space in spaces if matches(of_namespaces, _labels(space))}
        of_pods = peer.get("podSelector") or {}
        return [
            address
            for address, pod in self.pods.items()
            if _namespace(pod) in near and matches(of_pods, _labels(pod))
        ]


def ruleset(table: str, bridge: str, cluster: Cluster) -> str:
    """Input of `nft -f` that puts the table in the place of the one before, in one step.

    IPv6 would be a way around all rules, and pods have only what the kernel gives them itself.
    """
    reachable = {a: p for a, p in cluster.pods.items() if not p["spec"].get("hostNetwork")}
    cluster = replace(cluster, pods=dict(sorted(reachable.items())))
    chains: dict[str, Sequence[str]] = {}
    jumps: dict[str, list[str]] = {}
    for direction in (EGRESS, INGRESS):
        found = jumps.setdefault(direction.name, [])
        for address, allowed in sorted(_allowed(direction, cluster).items()):
            rules = [*sorted(allowed), "drop"]
            chain = _chain_name(direction, rules)
            chains[chain] = rules
            found.append(f"{address} : jump {chain}")
    isolated = sorted({jump.split()[0] for found in jumps.values() for jump in found})
    pairs = [f"{address} . {address}" for address in isolated]
    lines = [
        f"table inet {table}",
        f"delete table inet {table}",
        f"table inet {table} {{",
        *_elements("set itself", "ipv4_addr . ipv4_addr", pairs),
        *_elements("map egress", "ipv4_addr : verdict", jumps["egress"]),
        *_elements("map ingress", "ipv4_addr : verdict", jumps["ingress"]),
        *(line for name, rules in chains.items() for line in _chain(name, rules)),
        *_chain(
            "prerouting",
            [
                "type filter hook prerouting priority filter; policy accept;",
                f'iifname "{bridge}" meta nfproto ipv6 drop',
                "ct state established,related accept",
                "ip saddr . ip daddr @itself accept",
                "ip saddr vmap @egress",
                "ip daddr vmap @ingress",
            ],
        ),
        "}",
    ]
    return "\n".join(lines) + "\n"


def matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """Whether a label selector (meta/v1 LabelSelector) selects; the empty one selects all."""
    wanted: Mapping[str, str] = selector.get("matchLabels") or {}
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _fulfils(requirement, labels) for requirement in selector.get("matchExpressions") or ()
    )


def _fulfils(requirement: Object, labels: Mapping[str, str]) -> bool:
    key = requirement["key"]
    values = requirement.get("values") or ()
    return {
        "In": key in labels and labels[key] in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[str(requirement["operator"])]


def _allowed(direction: Direction, cluster: Cluster) -> dict[str, set[str]]:
    """Address of each isolated pod -> rules for what is let through, of all its policies."""
    allowed: dict[str, set[str]] = {}
    for policy in cluster.policies:
        spec, namespace = policy["spec"], _namespace(policy)
        if direction.kind not in _policy_types(spec):
            continue
        comment = f"{namespace}/{policy['metadata']['name']}"[:COMMENT_LIMIT]
        isolated = cluster.selected({"podSelector": spec.get("podSelector")}, namespace)
        for address in isolated:
            allowed.setdefault(address, set())
        for rule in spec.get(direction.name) or ():
            peers = list(_peers(direction, rule.get(direction.peers), namespace, cluster))
            for address in isolated:
                allowed[address].update(
                    f'{match} return comment "{comment}"'.lstrip()
                    for match in _matches(direction, rule.get("ports"), peers, address, cluster)
                )
    return allowed


def _policy_types(spec: Object) -> Sequence[str]:
    given: Sequence[str] = spec.get("policyTypes") or ()
    return given or (["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def _matches(
    direction: Direction,
    ports: Sequence[Object] | None,
    peers: Sequence[Peer],
    pod: str,
    cluster: Cluster,
) -> Iterator[str]:
    """Matches of nftables, one for each combination of a rule's peers and its ports."""
    for peer in peers:
        if not ports:
            yield peer.match
        for port in ports or ():
            protocol = str(port.get("protocol") or "TCP")
            number = port.get("port")
            if isinstance(number, str):
                receivers = [pod] if direction is INGRESS else peer.pods
                for value, found in _by_number(number, protocol, receivers, cluster).items():
                    where = f"ip daddr {_set(found)}" if direction is EGRESS else peer.match
                    yield f"{where} {protocol.lower()} dport {value}".lstrip()
            elif number is None:
                yield f"{peer.match} meta l4proto {protocol.lower()}".lstrip()
            else:
                last = port.get("endPort") or number
                numbers = f"{number}-{last}" if last > number else str(number)
                yield f"{peer.match} {protocol.lower()} dport {numbers}".lstrip()


def _peers(
    direction: Direction, peers: Sequence[Object] | None, namespace: str, cluster: Cluster
) -> Iterator[Peer]:
    if not peers:
        yield Peer("", list(cluster.pods))
        return
    chosen: set[str] = set()
    for peer in peers:
        block = peer.get("ipBlock")
        if block is None:
            chosen.update(cluster.selected(peer, namespace))
        elif ":" not in block["cidr"]:
            (cidr,) = _networks([block["cidr"]])
            excepted = _networks(block.get("except") or ())
            match = f"ip {direction.peer} {cidr}"
            if excepted:
                match += f" ip {direction.peer} != {_set([str(each) for each in excepted])}"
            yield Peer(match, [a for a in cluster.pods if _inside(a, cidr, excepted)])
    if chosen:
        yield Peer(f"ip {direction.peer} {_set(sorted(chosen))}", sorted(chosen))


def _by_number(
    name: str, protocol: str, receivers: Sequence[str], cluster: Cluster
) -> dict[int, list[str]]:
    """A port by name is the receiving pod's: number -> addresses of the pods that mean it."""
    found: dict[int, list[str]] = {}
    for address in receivers:
        for number in sorted(_numbers(cluster.pods[address], name, protocol)):
            found.setdefault(number, []).append(address)
    return found


def _numbers(pod: Object, name: str, protocol: str) -> set[int]:
    spec = pod["spec"]
    return {
        int(port["containerPort"])
        for container in [*spec.get("initContainers", ()), *spec.get("containers", ())]
        for port in container.get("ports") or ()
        if port.get("name") == name and port.get("protocol", "TCP") == protocol
    }


def _networks(cidrs: Sequence[str]) -> list[ipaddress.IPv4Network]:
    """Without overlaps: nftables refuses a set whose members overlap."""
    parsed = (ipaddress.IPv4Network(cidr, strict=False) for cidr in cidrs)
    return list(ipaddress.collapse_addresses(parsed))


def _inside(
    address: str, block: ipaddress.IPv4Network, excepted: Sequence[ipaddress.IPv4Network]
) -> bool:
    parsed = ipaddress.IPv4Address(address)
    return parsed in block and not any(parsed in each for each in excepted)


def _set(members: Sequence[str]) -> str:
    return f"{{ {', '.join(members)} }}"


def _elements(what: str, kind: str, members: Sequence[str]) -> list[str]:
    listed = [f"    elements = {_set(members)}"] if members else []
    return [f"  {what} {{", f"    type {kind}", *listed, "  }"]


def _chain(name: str, rules: Sequence[str]) -> list[str]:
    return [f"  chain {name} {{", *(f"    {rule}" for rule in rules), "  }"]


def _chain_name(direction: Direction, rules: Sequence[str]) -> str:
    """Pods with the same rules share a chain."""
    digest = hashlib.sha256("\n".join(rules).encode()).hexdigest()
    return f"{direction.name}-{digest[:12]}"


def _labels(obj: Object) -> Mapping[str, str]:
    labels: Mapping[str, str] = obj["metadata"].get("labels") or {}
    return labels


def _namespace(obj: Object) -> str:
    return str(obj["metadata"]["namespace"])
