"""What the chart's policies cost the API server that has to look at a large object of anybody's."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bernstein.kube.resource import Object
from tests.cluster import Cluster
from tests.control_plane.conftest import Tools
from tests.control_plane.objects import valid

MANY = 20_000
"""Labels, in half a megabyte."""
LOOKS = 3


def labelled(kind: str) -> str:
    plain: Object = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "one"}}
    made = valid("Task", "default") if kind == "Task" else plain
    made["metadata"] |= {"namespace": "default", "labels": {f"l{n}": "" for n in range(MANY)}}
    return json.dumps(made)


def busy(pid: int) -> float:
    """Seconds of the processor that the process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cost(cluster: Cluster, tools: Tools, kind: str) -> float:
    """Seconds that the API server takes to look at such an object: the least of a few, as it has
    other work, too."""
    (pid,) = [c.pid for c in cluster.status().components if c.name == "kube-apiserver"]
    text, taken = labelled(kind), []
    for _ in range(LOOKS):
        before = busy(pid)
        tools.kubectl("create", "-f-", "--dry-run=server", "--validate=false", stdin=text)
        taken.append(busy(pid) - before)
    return min(taken)


@pytest.mark.usefixtures("chart")
@pytest.mark.parametrize("kind", ["ConfigMap", "Task"])
def test_an_object_of_many_labels_costs_little_more_than_one_that_no_policy_looks_at(
    cluster: Cluster, tools: Tools, kind: str
) -> None:
    """Where policies went through all labels of it, that was fifteen times as much, and three
    quarters of a minute with the most labels that an object can have."""
    assert cost(cluster, tools, kind) < 5 * cost(cluster, tools, "Secret")
