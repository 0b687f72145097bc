"""Command lines of the control plane's components: what other parts rely on."""

from __future__ import annotations

from typing import Any

from tests.cluster.binaries.build import Binaries
from tests.cluster.control_plane import parts
from tests.cluster.layout import Layout


def test_api_server_without_node_offers_no_endpoint(layout: Layout, binaries: Binaries) -> None:
    without = parts.kube_apiserver(layout, binaries, node=False)
    with_node = parts.kube_apiserver(layout, binaries, node=True)
    assert "--endpoint-reconciler-type=none" in without
    assert "--endpoint-reconciler-type=none" not in with_node
    assert any(flag.startswith("--kubelet-certificate-authority=") for flag in with_node)


def test_api_server_asks_for_the_right_to_owners_finalizers(
    layout: Layout, binaries: Binaries
) -> None:
    command = parts.kube_apiserver(layout, binaries, node=False)
    assert any("OwnerReferencesPermissionEnforcement" in flag for flag in command)


def test_audit_keeps_what_is_sent_of_our_kinds_only_and_no_reads() -> None:
    rules: Any = parts.audit_policy()["rules"]
    assert [rule["level"] for rule in rules] == ["Request", "Metadata", "None"]
    assert rules[0]["resources"] == [{"group": "bernstein.dev"}]
    assert all("get" not in rule.get("verbs", []) for rule in rules)
