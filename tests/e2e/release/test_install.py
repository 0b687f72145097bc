"""A release is installed from its files alone, on a node that has nothing of ours."""

from __future__ import annotations

import json
from pathlib import Path

from tests.demo.manifests import GitServer
from tests.e2e.conftest import EXISTS, SLOWNESS, does, writing
from tests.e2e.release.conftest import Team, put_up
from tests.stack import SYSTEM, Clock, Stack

NAMESPACE = "first"
MOST_SECONDS = 120
ONE_WAY = ("checking sums", "loading images", "installing the chart", "a first Task")
"""What somebody does who installs it: the manifest is the other way."""
DEPLOYMENTS = ("bernstein-certificates", "bernstein-operator", "bernstein-server")


def await_pods(stack: Stack) -> None:
    for name in DEPLOYMENTS:
        stack.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{name}", "--timeout=120s")


def test_one_manifest_installs_it(dist: Path, carried: Stack, clock: Clock) -> None:
    manifest = str(dist / "install.yaml")
    with clock.measure("applying install.yaml"):
        told = carried.kubectl("apply", "--server-side", "-f", manifest)
        await_pods(carried)

    assert "warning" not in told.lower()
    again = carried.kubectl("apply", "--server-side", "-f", manifest)
    assert carried.kubectl("diff", "--server-side", "-f", manifest) == ""
    assert len(again.splitlines()) == len(told.splitlines())
    carried.kubectl("delete", "-f", manifest, "--wait")


def test_the_chart_installs_it_and_a_first_task_is_merged(
    dist: Path, chart: Path, carried: Stack, clock: Clock, team: Team
) -> None:
    with clock.measure("installing the chart"):
        put_up(carried, chart)
    with clock.measure("a first Task"):
        here = team(GitServer.new(NAMESPACE), does("good", writing("new.py", "X = 1\n")))
        here.task("good", completionSignals=[EXISTS])
        task = here.closed("good")

    assert task["status"]["delivery"]["state"] == "Merged"
    assert here.tip() == task["status"]["delivery"]["sha"]
    pods = carried.kubectl("get", "pods", "-A", "-o", "json")
    used = {
        container["image"]
        for pod in json.loads(pods)["items"]
        if pod["metadata"]["namespace"] in (SYSTEM, NAMESPACE)
        for container in pod["spec"]["containers"]
    }
    listed = (dist / "images.txt").read_text().splitlines()
    assert used <= {line.partition("@")[0] for line in listed}
    print({what: round(seconds, 1) for what, seconds in clock.spent.items()})
    assert sum(clock.spent[what] for what in ONE_WAY) < MOST_SECONDS * SLOWNESS
