"""The meaning of a NetworkPolicy, bullet by bullet, as the rules that come of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.cluster.network_policy.rules import Cluster, matches, ruleset

Object = dict[str, Any]

WEB, CLIENT, DATABASE, NODE = "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.254"
NAMESPACES: dict[str, Object] = {
    name: {"metadata": {"name": name, "labels": {"team": name}}} for name in ("shop", "store")
}


def pod(namespace: str, app: str, **ports: int) -> Object:
    named = [{"name": name, "containerPort": number} for name, number in ports.items()]
    return {
        "metadata": {"namespace": namespace, "name": app, "labels": {"app": app}},
        "spec": {"containers": [{"ports": named}]},
    }


PODS = {
    WEB: pod("shop", "web", http=8080),
    CLIENT: pod("shop", "client", http=9090),
    DATABASE: pod("store", "database"),
}


def policy(app: str | None = "web", name: str = "p", **spec: Any) -> Object:
    """Of namespace shop, for the pods of an app or for all."""
    selector = {} if app is None else {"matchLabels": {"app": app}}
    return {
        "metadata": {"namespace": "shop", "name": name},
        "spec": {"podSelector": selector, **spec},
    }


def rules(
    direction: str, address: str, *policies: Object, pods: dict[str, Object] = PODS
) -> list[str] | None:
    """What lets packets of the pod through; None when it is not isolated in that direction."""
    text = ruleset("table", "bridge", Cluster(policies, pods, NAMESPACES))
    table = text.partition(f"  map {direction} {{")[2]
    jump = re.search(
        rf"[ {{]{re.escape(address)} : jump ({direction}-\w+)", table.partition("}\n")[0]
    )
    if jump is None:
        return None
    chain = text.partition(f"  chain {jump[1]} {{\n")[2].partition("\n  }")[0]
    *allowed, last = (line.strip() for line in chain.splitlines())
    assert last == "drop"
    ends = [re.fullmatch(r'(.*?) ?return comment "[^"]*"', line) for line in allowed]
    return [end[1] for end in ends if end is not None]


def ingress(*given: Object, **spec: Any) -> list[str] | None:
    """Of the pod web, for one policy with these rules."""
    return rules("ingress", WEB, policy(ingress=list(given), **spec))


def egress(*given: Object, **spec: Any) -> list[str] | None:
    return rules("egress", WEB, policy(egress=list(given), policyTypes=["Egress"], **spec))


# --- which pods are isolated, and in which direction


def test_pod_that_no_policy_selects_is_free_in_both_directions() -> None:
    assert [rules(way, CLIENT, policy()) for way in ("ingress", "egress")] == [None, None]
    assert [rules(way, WEB) for way in ("ingress", "egress")] == [None, None]


def test_policy_isolates_only_in_its_own_namespace() -> None:
    everywhere = policy(app=None)
    isolated = {address: rules("ingress", address, everywhere) for address in PODS}
    assert isolated == {WEB: [], CLIENT: [], DATABASE: None}


@pytest.mark.parametrize(
    ("spec", "isolated"),
    [
        ({}, ["ingress"]),
        ({"ingress": [{}]}, ["ingress"]),
        ({"egress": []}, ["ingress"]),
        ({"egress": [{}]}, ["egress", "ingress"]),
        ({"policyTypes": ["Ingress"], "egress": [{}]}, ["ingress"]),
        ({"policyTypes": ["Egress"]}, ["egress"]),
        ({"policyTypes": ["Ingress", "Egress"]}, ["egress", "ingress"]),
    ],
)
def test_directions_are_the_types_given_or_ingress_and_what_has_egress_rules(
    spec: Object, isolated: list[str]
) -> None:
    ways = ("egress", "ingress")
    assert [way for way in ways if rules(way, WEB, policy(**spec)) is not None] == isolated


def test_pod_of_the_hosts_network_is_neither_isolated_nor_selected() -> None:
    hosted = pod("shop", "hosted")
    hosted["spec"]["hostNetwork"] = True
    pods = {**PODS, NODE: hosted}
    all_pods: Object = {"from": [{"podSelector": {}}]}
    everywhere = policy(app=None, ingress=[all_pods])
    assert rules("ingress", NODE, everywhere, pods=pods) is None
    assert rules("ingress", WEB, everywhere, pods=pods) == [f"ip saddr {{ {WEB}, {CLIENT} }}"]


# --- selectors


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        ({}, True),
        ({"matchLabels": {"a": "1"}}, True),
        ({"matchLabels": {"a": "1", "b": "2"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["0", "1"]}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "In", "values": ["1"]}]}, False),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["1"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
        (
            {
                "matchLabels": {"a": "1"},
                "matchExpressions": [{"key": "a", "operator": "DoesNotExist"}],
            },
            False,
        ),
    ],
)
def test_selector_selects_what_fulfils_all_of_it(selector: Object, selected: bool) -> None:
    assert matches(selector, {"a": "1"}) is selected


# --- peers


def test_empty_list_of_rules_lets_nothing_through() -> None:
    assert (ingress(), egress()) == ([], [])


def test_empty_rule_lets_everything_through() -> None:
    assert (ingress({}), egress({})) == ([""], [""])
    assert ingress({"from": [], "ports": []}) == [""]


def test_pod_selector_alone_is_for_the_policys_namespace() -> None:
    assert ingress({"from": [{"podSelector": {}}]}) == [f"ip saddr {{ {WEB}, {CLIENT} }}"]
    client = {"podSelector": {"matchLabels": {"app": "client"}}}
    assert egress({"to": [client]}) == [f"ip daddr {{ {CLIENT} }}"]


def test_namespace_selector_alone_is_for_all_pods_of_the_namespaces() -> None:
    store = {"namespaceSelector": {"matchLabels": {"team": "store"}}}
    assert ingress({"from": [store]}) == [f"ip saddr {{ {DATABASE} }}"]
    everywhere: Object = {"namespaceSelector": {}}
    assert ingress({"from": [everywhere]}) == [f"ip saddr {{ {WEB}, {CLIENT}, {DATABASE} }}"]


def test_both_selectors_are_for_those_pods_of_those_namespaces() -> None:
    everywhere: Object = {"namespaceSelector": {}}
    clients = {**everywhere, "podSelector": {"matchLabels": {"app": "client"}}}
    assert ingress({"from": [clients]}) == [f"ip saddr {{ {CLIENT} }}"]
    nobody = {**clients, "namespaceSelector": {"matchLabels": {"team": "store"}}}
    assert ingress({"from": [nobody]}) == []


def test_peers_of_a_rule_are_alternatives() -> None:
    client = {"podSelector": {"matchLabels": {"app": "client"}}}
    store = {"namespaceSelector": {"matchLabels": {"team": "store"}}}
    assert ingress({"from": [client, store]}) == [f"ip saddr {{ {CLIENT}, {DATABASE} }}"]


def test_block_of_addresses_leaves_out_its_exceptions() -> None:
    block = {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16", "10.1.2.0/24", "10.3.0.0/16"]}
    assert egress({"to": [{"ipBlock": block}]}) == [
        "ip daddr 10.0.0.0/8 ip daddr != { 10.1.0.0/16, 10.3.0.0/16 }"
    ]
    assert ingress({"from": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}) == ["ip saddr 0.0.0.0/0"]


def test_block_of_ipv6_addresses_lets_nothing_through() -> None:
    assert egress({"to": [{"ipBlock": {"cidr": "fd00::/8"}}]}) == []


# --- ports


@pytest.mark.parametrize(
    ("port", "match"),
    [
        ({"port": 80}, "tcp dport 80"),
        ({"port": 53, "protocol": "UDP"}, "udp dport 53"),
        ({"port": 7, "protocol": "SCTP"}, "sctp dport 7"),
        ({"protocol": "UDP"}, "meta l4proto udp"),
        ({"port": 8000, "endPort": 8999}, "tcp dport 8000-8999"),
        ({"port": 8000, "endPort": 8000}, "tcp dport 8000"),
    ],
)
def test_port_is_matched_on_the_receivers_side(port: Object, match: str) -> None:
    assert (ingress({"ports": [port]}), egress({"ports": [port]})) == ([match], [match])


def test_every_port_counts_for_every_peer() -> None:
    peers = [{"podSelector": {}}, {"ipBlock": {"cidr": "192.0.2.0/24"}}]
    own = f"ip saddr {{ {WEB}, {CLIENT} }}"
    assert ingress({"from": peers, "ports": [{"port": 80}, {"port": 443}]}) == [
        "ip saddr 192.0.2.0/24 tcp dport 443",
        "ip saddr 192.0.2.0/24 tcp dport 80",
        f"{own} tcp dport 443",
        f"{own} tcp dport 80",
    ]


def test_named_port_of_ingress_is_the_isolated_pods() -> None:
    everybody = policy(app=None, ingress=[{"ports": [{"port": "http"}]}])
    assert rules("ingress", WEB, everybody) == ["tcp dport 8080"]
    assert rules("ingress", CLIENT, everybody) == ["tcp dport 9090"]


def test_named_port_of_egress_is_that_of_each_receiver() -> None:
    ports = {"ports": [{"port": "http"}]}
    each = [f"ip daddr {{ {WEB} }} tcp dport 8080", f"ip daddr {{ {CLIENT} }} tcp dport 9090"]
    assert egress({"to": [{"podSelector": {}}], **ports}) == each
    assert egress(ports) == each
    block = {"cidr": "10.0.0.0/30", "except": [f"{WEB}/32"]}
    assert egress({"to": [{"ipBlock": block}], **ports}) == each[1:]


def test_named_port_that_nobody_has_lets_nothing_through() -> None:
    assert ingress({"ports": [{"port": "https"}]}) == []
    assert ingress({"ports": [{"port": "http", "protocol": "UDP"}]}) == []
    assert egress({"ports": [{"port": "https"}]}) == []


def test_named_port_may_be_a_sidecars() -> None:
    metrics = [{"name": "metrics", "containerPort": 9102}]
    web = pod("shop", "web")
    web["spec"]["initContainers"] = [{"ports": metrics, "restartPolicy": "Always"}]
    named = policy(ingress=[{"ports": [{"port": "metrics"}]}])
    assert rules("ingress", WEB, named, pods={WEB: web}) == ["tcp dport 9102"]


# --- together


def test_policies_add_up() -> None:
    first = policy(name="a", ingress=[{"ports": [{"port": 80}]}])
    second = policy(name="b", app=None, ingress=[{"ports": [{"port": 443}]}])
    closed = policy(name="c")
    assert rules("ingress", WEB, first, second, closed) == ["tcp dport 443", "tcp dport 80"]
    assert rules("ingress", CLIENT, first, second, closed) == ["tcp dport 443"]


def test_packet_needs_both_sides_answers_need_nobody_and_a_pod_reaches_itself() -> None:
    both = policy(app=None, policyTypes=["Ingress", "Egress"])
    text = ruleset("table", "bridge", Cluster([both], PODS, NAMESPACES))
    base = text.partition("  chain prerouting {\n")[2].partition("\n  }")[0]
    assert [line.strip() for line in base.splitlines()] == [
        "type filter hook prerouting priority filter; policy accept;",
        'iifname "bridge" meta nfproto ipv6 drop',
        "ct state established,related accept",
        "ip saddr . ip daddr @itself accept",
        "ip saddr vmap @egress",
        "ip daddr vmap @ingress",
    ]
    assert f"elements = {{ {WEB} . {WEB}, {CLIENT} . {CLIENT} }}" in text


def test_order_of_what_is_given_changes_no_rule() -> None:
    policies = [policy(name="a", ingress=[{}]), policy(name="b", egress=[{}])]
    there = ruleset("table", "bridge", Cluster(policies, PODS, NAMESPACES))
    turned = dict(reversed(PODS.items()))
    assert ruleset("table", "bridge", Cluster(policies[::-1], turned, NAMESPACES)) == there
