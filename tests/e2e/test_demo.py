"""What `make demo` does on a cluster that is up: the example Plan, through a crash of the operator,
to a settled end, and the same again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.cluster.control_plane import audit
from tests.demo import run
from tests.demo.manifests import GitServer
from tests.demo.run import NAMESPACE, PLAN
from tests.e2e.conftest import SLOWNESS, Object, World, state
from tests.stack import SYSTEM, Clock, Stack

MOST_SECONDS = 8 * 60
TELLS = """\
import os, sys
from tests.demo import run
from tests.stack import Clock, running
clock = Clock()
code = run.story(running(os.environ.get("BERNSTEIN_E2E_CLUSTER")), clock)
run.where_the_time_went(clock)
sys.exit(code)
"""


@dataclass(frozen=True)
class Story:
    """The demo while it is told, in a process of its own."""

    world: World
    telling: subprocess.Popen[bytes]
    output: Path

    def told(self) -> str:
        """All that it printed, once it has ended well."""
        code = self.telling.wait(MOST_SECONDS * SLOWNESS)
        text = self.output.read_text()
        assert code == 0, text
        return text


@pytest.fixture(scope="module")
def story(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    gone = ("delete", "namespace", NAMESPACE, "--ignore-not-found")
    stack.kubectl(*gone)
    world = World(stack, GitServer.new(NAMESPACE), NAMESPACE, PLAN)
    output = tmp_path_factory.mktemp("demo") / "output"
    environment = stack.environment | {"COLUMNS": "100"}
    with output.open("wb") as file:
        telling = subprocess.Popen(
            [sys.executable, "-c", TELLS], stdout=file, stderr=file, env=environment
        )
    yield Story(world, telling, output)
    telling.kill()
    telling.wait()
    stack.kubectl(*gone, "--wait=false")


@pytest.fixture
def example(story: Story) -> World:
    return story.world


def leader(stack: Stack) -> str:
    """Name of the pod that leads."""
    holder: str = lease(stack).get("holderIdentity") or ""
    return holder.partition("_")[0]


def lease(stack: Stack) -> Object:
    text = stack.kubectl("-n", SYSTEM, "get", "lease", "bernstein-operator", "-o", "json")
    spec: Object = json.loads(text)["spec"]
    return spec


def test_the_plan_is_finished_by_the_next_operator_when_the_first_is_killed(
    story: Story,
) -> None:
    example = story.world
    example.await_("plan", PLAN, lambda p: p["status"]["counts"]["closed"] >= 2, 240)
    example.await_(
        "task",
        _named(example, "Add RateLimiter middleware"),
        lambda t: state(t) in ("Claimed", "InProgress"),
    )
    first = leader(example.stack)
    before = _operator(example.stack, first)
    example.stack.cluster.kill_container(first, "operator", SYSTEM)
    _until(lambda: _restarted(example.stack, first, before), "the operator was not killed")
    plan = example.await_("plan", PLAN, lambda p: p["status"].get("phase") == "Succeeded", 300)
    assert plan["status"]["delivery"]["state"] == "Merged"
    assert example.tip() == plan["status"]["delivery"]["sha"]
    _no_session_ran_twice(example)
    _nothing_was_merged_twice(example)
    _the_lie_was_found(example)


def _operator(stack: Stack, pod: str) -> Object:
    """Status of the container."""
    status = json.loads(stack.kubectl("-n", SYSTEM, "get", "pod", pod, "-o", "json"))["status"]
    (container,) = status["containerStatuses"]
    return dict(container)


def _restarted(stack: Stack, pod: str, before: Object) -> bool:
    """Whether the container that was there has been killed."""
    now = _operator(stack, pod)
    if now["restartCount"] == before["restartCount"]:
        return False
    ended = now["lastState"]["terminated"]
    assert ended["containerID"] == before["containerID"]
    assert ended["exitCode"] == 128 + signal.SIGKILL
    return True


def _until(holds: Callable[[], bool], failure: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, failure
        time.sleep(0.5)


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


def test_the_demo_shows_what_became_of_every_task_and_what_was_merged(story: Story) -> None:
    """From the table with attempts, verdicts and cost to the history that anybody may clone."""
    told = story.told()
    assert "attempt 2" in told  # of the step whose agent lied
    assert "✓ Succeeded: verified and merged" in told
    _, _, found = told.partition("Tasks, and what was found")
    table, _, history = found.partition("Merged history")
    rows = [_cells(row) for row in table.split("├")]
    for task in story.world.all("tasks"):
        title = task["spec"]["title"]
        (row,) = [r for r in rows if r[0] == title]
        assert row[1] == "Closed"
        ends = [f"{a['attempt']}: {a['reason']}" for a in task["status"]["attempts"]]
        assert row[2] == " ".join(ends)
        judged = task["status"]["verification"]["checks"]
        assert row[3].count(": Passed") == [c["verdict"] for c in judged].count("Passed") > 0
        assert row[4] == f"${float(task['status']['spendUsd']):.4f}" != "$0.0000"
        merged = task["status"]["delivery"]["state"] == "Merged"
        assert (f" {title}\n" in history) == merged
    assert "1: SignalFailed 2: Succeeded" in [r[2] for r in rows if len(r) > 2]
    spent = sum(float(task["status"]["spendUsd"]) for task in story.world.all("tasks"))
    assert rows[-1][3:] == ["tokens at the price table", f"${spent:.4f}"]
    assert "src/api/middleware/rate_limiter.py" in history


def test_the_demo_says_where_its_time_went_and_takes_no_more_than_it_may(story: Story) -> None:
    _, _, told = story.told().partition("Where the time went")
    took = {what: float(seconds) for seconds, what in re.findall(r"([0-9.]+) s  (.+)", told)}

    assert took.keys() == {"preparing the example", "running the plan"}
    assert sum(took.values()) < MOST_SECONDS


def _cells(row: str) -> list[str]:
    """What stands in each column of a row of the table, in one line."""
    lines = [line.split("│")[1:-1] for line in row.splitlines() if line.startswith("│")]
    return [
        " ".join(part.strip() for part in column).strip() for column in zip(*lines, strict=True)
    ]


def _succeeded(example: World) -> Object:
    return example.await_("plan", PLAN, lambda p: p["status"].get("phase") == "Succeeded", 300)


SECONDS_WITHOUT_WRITES = 3


def test_a_settled_cluster_is_not_written_to_by_a_new_leader(example: World) -> None:
    """A new leader lists and looks at everything: a resync that leaves nothing out."""
    stack = example.stack
    _succeeded(example)
    _await_quiet(example)
    since = audit.position(Path(stack.cluster.status().audit_log))
    was = leader(stack)
    stack.kubectl("-n", SYSTEM, "delete", "pod", was)
    stack.kubectl("-n", SYSTEM, "rollout", "status", "deployment/bernstein-operator")
    _until(lambda: leader(stack) not in ("", was), "nobody took over")
    unseen = set(KINDS)

    def has_seen_all() -> bool:
        unseen.difference_update(_idle(example))
        return not unseen

    _until(has_seen_all, f"the new leader did not look at every one of {KINDS}")
    assert leader(stack) != was
    # The one before may write what gates have said last as it ends.
    leads = datetime.fromisoformat(lease(stack)["acquireTime"])
    assert [write for write in example.writes(since) if write.at is None or write.at >= leads] == []


KINDS = {"project": "projects", "plan": "plans", "task": "tasks", "agentsession": "agentsessions"}
"""The controllers, and what each one looks after."""


def _await_quiet(example: World) -> None:
    """Until the writes that the Plan's end brings about are done."""
    log = Path(example.stack.cluster.status().audit_log)

    def nothing_written() -> bool:
        since = audit.position(log)
        time.sleep(SECONDS_WITHOUT_WRITES)
        return not example.writes(since)

    _until(nothing_written, "the operator goes on writing")


def _idle(example: World) -> list[str]:
    """The leader's controllers that have, at this moment, nothing left to look at.

    A controller starts with a key of every object there is. One that was given as many, and whose
    queue is empty with no run going on, has looked at each of them, however busy others keep it.
    """
    path = f"/api/v1/namespaces/{SYSTEM}/pods/{leader(example.stack)}:8080/proxy/metrics"
    text = example.stack.kubectl("get", "--raw", path, check=False)
    samples = {
        (sample.name, sample.labels.get("name")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }

    def idle(controller: str, objects: int) -> bool:
        added = samples.get(("workqueue_adds_total", controller), 0)
        done = samples.get(("workqueue_work_duration_seconds_count", controller), 0)
        waiting = samples.get(("workqueue_depth", controller), 0)
        return bool(added >= objects and done == added and not waiting)

    return [name for name, plural in KINDS.items() if idle(name, len(example.all(plural)))]


def test_the_demo_can_be_told_again_where_no_pod_may_be_what_is_not_restricted(
    story: Story,
) -> None:
    stack = story.world.stack
    story.told()
    run.prepare(stack, Clock())
    assert story.world.all("plans") == []
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "root", "namespace": NAMESPACE},
        "spec": {"containers": [{"name": "root", "image": "bernstein:dev", "command": ["id"]}]},
    }

    with pytest.raises(RuntimeError, match=r'violates PodSecurity "restricted'):
        stack.kubectl("create", "-f", "-", stdin=json.dumps(pod))
