"""What KWOK is told, and when its node counts as ready."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.cluster.kwok import parts
from tests.cluster.layout import KWOK_PORTS, Layout


def test_it_plays_for_its_own_cluster_on_its_own_port(layout: Layout) -> None:
    own = replace(layout, ports={name: 20000 + n for n, name in enumerate(KWOK_PORTS)})

    command = parts.kwok(own, Path("/cache/kwok"))

    assert command[0] == "/cache/kwok"
    assert f"--kubeconfig={layout.kubeconfig}" in command
    assert "--server-address=127.0.0.1:20001" in command


def test_a_node_is_ready_once_it_says_so() -> None:
    said = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}

    assert [parts.is_ready(node) for node in (None, parts.node(), said)] == [False, False, False]
    said["status"]["conditions"][0]["status"] = "True"
    assert parts.is_ready(said)


def test_nothing_is_audited() -> None:
    assert parts.no_audit()["rules"] == [{"level": "None"}]
