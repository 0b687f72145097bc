"""KWOK's command line, and the node that it plays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.cluster.control_plane.parts import LOOPBACK
from tests.cluster.layout import NODE_NAME, Layout


def stage_file(layout: Layout) -> Path:
    """Where KWOK reads what becomes of nodes and pods."""
    return layout.folder / "kwok-stages.yaml"


def kwok(layout: Layout, program: Path) -> list[str]:
    """KWOK's command line: it plays every node, with the administrator's rights."""
    return [
        str(program),
        f"--kubeconfig={layout.kubeconfig}",
        "--manage-all-nodes=true",
        f"--config={stage_file(layout)}",
        "--v=WARN",  # else every pod costs it some lines
        f"--server-address={LOOPBACK}:{layout.ports['kwok']}",
    ]


def node() -> Mapping[str, object]:
    """The node as it is registered; KWOK makes it Ready."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE_NAME}}


def is_ready(node: Any) -> bool:
    """Whether a node, if it could be read, says that it is Ready."""
    conditions = (node or {}).get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def no_audit() -> Mapping[str, object]:
    """An audit policy by which nothing is written down."""
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "None"}]}
