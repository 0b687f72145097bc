"""The chart's own NetworkPolicies: who may connect to the operator and to the server."""

from __future__ import annotations

import json
from typing import Any

from tests.control_plane.chart.test_chart import of_kind, rendered
from tests.control_plane.conftest import Tools


def _lets_in(objects: list[dict[str, Any]], component: str) -> list[dict[str, Any]]:
    """Who reaches the pods of it; whom they reach is not limited."""

    def of(kind: str) -> dict[str, Any]:
        named = (o for o in of_kind(objects, kind) if o["metadata"]["name"].endswith(component))
        (spec,) = (o["spec"] for o in named)
        return dict(spec)

    policy, deployed = of("NetworkPolicy"), of("Deployment")
    assert policy["policyTypes"] == ["Ingress"]
    assert policy["podSelector"] == deployed["selector"]
    (container,) = deployed["template"]["spec"]["containers"]
    names = {port["name"] for port in container["ports"]}
    assert {port["port"] for rule in policy.get("ingress", []) for port in rule["ports"]} <= names
    return [peer for rule in policy.get("ingress", []) for peer in rule["from"]]


def test_by_default_nobody_reaches_the_operator_and_pods_of_sessions_the_server(
    tools: Tools,
) -> None:
    sessions = {
        "namespaceSelector": {},
        "podSelector": {"matchLabels": {"app.kubernetes.io/managed-by": "bernstein"}},
    }

    objects = rendered(tools)

    assert _lets_in(objects, "operator") == []
    assert _lets_in(objects, "server") == [sessions]


def test_prometheus_is_let_in_where_it_is_named(tools: Tools) -> None:
    monitoring = {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}
    named = ("--set-json", f"networkPolicy.ingressFrom={json.dumps([monitoring])}")

    objects = rendered(tools, *named)

    assert _lets_in(objects, "operator") == [monitoring]
    assert monitoring in _lets_in(objects, "server")
    off = rendered(tools, "--set", "networkPolicy.enabled=false")
    assert not of_kind(off, "NetworkPolicy")
