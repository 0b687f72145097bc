"""The example Plan on a real cluster, through a crash of the operator, to a settled end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import audit
from tests.demo import manifests
from tests.e2e.conftest import OPERATOR, World, state
from tests.stack import SYSTEM, Stack

PLAN = "rate-limit-api"


@pytest.fixture(scope="module")
def example(stack: Stack) -> Iterator[World]:
    """The example's namespace, with its own git server and the Plan applied."""
    namespace = "example"
    stack.kubectl("delete", "namespace", namespace, "--ignore-not-found")
    server, objects = manifests.demo(namespace)
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
    stack.kubectl("-n", namespace, "rollout", "status", f"deployment/{server.name}")
    world = World(stack, server, namespace, PLAN)
    plan = (manifests.EXAMPLE / "plan-cr.yaml").read_text()
    world.stack.kubectl("apply", "-f", "-", stdin=plan.replace("bernstein-demo", namespace))
    yield world
    stack.kubectl("delete", "namespace", namespace, "--wait=false")


def leader(stack: Stack) -> str:
    """Name of the pod that leads."""
    text = stack.kubectl("-n", SYSTEM, "get", "lease", "bernstein-operator", "-o", "json")
    holder: str = json.loads(text)["spec"].get("holderIdentity") or ""
    return holder.partition("_")[0]


def test_the_plan_is_finished_by_the_next_operator_when_the_first_is_killed(
    example: World,
) -> None:
    example.await_(
        "plan", PLAN, lambda p: p.get("status", {}).get("counts", {}).get("closed", 0) >= 2, 180
    )
    example.await_(
        "task",
        _named(example, "Add RateLimiter middleware"),
        lambda t: state(t) in ("Claimed", "InProgress"),
    )
    first = leader(example.stack)
    example.stack.cluster.kill_container(first, "operator", SYSTEM)
    plan = example.await_("plan", PLAN, lambda p: p["status"].get("phase") == "Succeeded", 300)
    assert plan["status"]["delivery"]["state"] == "Merged"
    assert example.tip() == plan["status"]["delivery"]["sha"]
    _no_session_ran_twice(example)
    _nothing_was_merged_twice(example)
    _the_lie_was_found(example)


def _named(example: World, title: str) -> str:
    found = [t for t in example.all("tasks") if t["spec"]["title"] == title]
    return str(found[0]["metadata"]["name"])


def _no_session_ran_twice(example: World) -> None:
    told = [a["session"] for t in example.all("tasks") for a in t["status"]["attempts"]]
    sessions = [s["metadata"]["name"] for s in example.all("agentsessions")]
    assert sorted(told) == sorted(sessions)
    pods = [
        p["metadata"]["labels"]["bernstein.dev/session"]
        for p in example.all("pods")
        if p["metadata"]["labels"].get("bernstein.dev/job") == "agent"
    ]
    assert sorted(pods) == sorted(sessions)


def _nothing_was_merged_twice(example: World) -> None:
    trailers = "--format=%(trailers:key=Bernstein-Task,valueonly)"
    landed = [line for line in example.on_server("log", trailers, "main").splitlines() if line]
    assert len(landed) == len(set(landed)) == 6  # the seventh step changes nothing
    moves = example.on_server("reflog", "show", "--format=%gs", "refs/heads/main").splitlines()
    assert moves.count("push") == 1


def _the_lie_was_found(example: World) -> None:
    task = example.get("task", _named(example, "Add RateLimiter middleware"))
    reasons = [a["reason"] for a in task["status"]["attempts"] if a["counted"]]
    assert reasons == ["SignalFailed", "Succeeded"]


def test_a_settled_cluster_is_not_written_to_by_a_new_leader(example: World) -> None:
    """A new process lists and looks at everything: a resync that leaves nothing out."""
    stack = example.stack
    example.await_("plan", PLAN, lambda p: p["status"].get("phase") == "Succeeded", 300)
    log = Path(stack.cluster.status().audit_log)
    was = leader(stack)
    stack.kubectl("-n", SYSTEM, "delete", "pod", was)
    stack.kubectl("-n", SYSTEM, "rollout", "status", "deployment/bernstein-operator")
    deadline = time.monotonic() + 60
    while leader(stack) in ("", was):
        assert time.monotonic() < deadline, "nobody took over"
        time.sleep(0.5)
    since = audit.position(log)
    reconciled = _reconciles(stack)
    while _reconciles(stack) < max(reconciled, _objects(example)):
        assert time.monotonic() < deadline, "the new leader looked at nothing"
        time.sleep(0.5)
    here = [w for w in audit.writes(log, since) if w.user == OPERATOR]
    assert [w for w in here if w.namespace == example.namespace] == []


def _objects(example: World) -> int:
    return sum(len(example.all(kind)) for kind in ("projects", "plans", "tasks", "agentsessions"))


def _reconciles(stack: Stack) -> int:
    """Reconciles of the leader so far, from its metrics."""
    path = f"/api/v1/namespaces/{SYSTEM}/pods/{leader(stack)}:8080/proxy/metrics"
    text = stack.kubectl("get", "--raw", path, check=False)
    lines = [x for x in text.splitlines() if x.startswith("controller_runtime_reconcile_total{")]
    return int(sum(float(line.rsplit(" ", 1)[1]) for line in lines))
