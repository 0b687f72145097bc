"""What the chart's policies cost the API server that has to look at a large object of anybody's."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from bernstein.kube.resource import Object
from tests.cluster import Cluster
from tests.control_plane.chart.test_policies_off import older
from tests.control_plane.conftest import Tools, eventually
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


def is_held_up(cluster: Cluster, tools: Tools, kind: str) -> bool:
    """Whether it costs far more than an object that no policy looks at."""
    return cost(cluster, tools, kind) > 5 * cost(cluster, tools, "Secret")


@pytest.mark.usefixtures("chart")
@pytest.mark.parametrize("kind", ["ConfigMap", "Task"])
async def test_an_object_of_many_labels_costs_little_more_than_one_that_no_policy_looks_at(
    cluster: Cluster, tools: Tools, kind: str
) -> None:
    """With the most labels that an object can have it was three quarters of a minute where policies
    went through all of them."""

    async def costs_little() -> bool:
        return not is_held_up(cluster, tools, kind)

    await eventually(costs_little)  # it may still clear away what others have left there


BY_NAME = re.compile(r"\(l\[\?'app[^]]*\][^|]*\|\|\s*\[[^]]*\]\.exists\([^)]*\)\)")
"""How a policy asks whether labels are ours."""
BY_BEGINNING = "l.exists(k, k.startsWith('bernstein.dev/') || k == 'app.kubernetes.io/managed-by')"


def by_their_beginning(spec: Object) -> None:
    """It goes through all labels, as in an older chart."""
    for condition in spec["matchConditions"]:
        condition["expression"] = BY_NAME.sub(BY_BEGINNING, condition["expression"])


@pytest.mark.usefixtures("chart")
@pytest.mark.parametrize(("kind", "policy"), [("ConfigMap", "objects"), ("Task", "tasks")])
async def test_it_holds_up_the_api_server_where_a_policy_goes_through_all_labels(
    cluster: Cluster, tools: Tools, kind: str, policy: str
) -> None:
    async def costs_much() -> bool:
        return is_held_up(cluster, tools, kind)

    with older(tools, policy, by_their_beginning):
        await eventually(costs_much)
