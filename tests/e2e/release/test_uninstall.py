"""What Helm runs itself: a trial of what is installed, and a look before that is removed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bernstein.core import labels
from tests.demo.manifests import GitServer
from tests.e2e.conftest import World, does
from tests.e2e.release.conftest import Object, Team, put_up
from tests.stack import SYSTEM, Stack


@pytest.fixture
def installed(carried: Stack, chart: Path) -> Stack:
    put_up(carried, chart)
    return carried


def helm(stack: Stack, command: str, *options: str) -> str:
    return stack.run("helm", command, "bernstein", *options, "--namespace", SYSTEM)


def deployments(stack: Stack) -> str:
    """Their names, with how many of their pods are ready."""
    columns = "custom-columns=NAME:.metadata.name,READY:.status.readyReplicas"
    return stack.kubectl("-n", SYSTEM, "get", "deployments", "-o", columns)


def test_the_trial_passes_and_leaves_nothing(installed: Stack) -> None:
    told = helm(installed, "test")

    assert re.search(r"^TEST SUITE: +bernstein-test$", told, re.MULTILINE)
    assert re.search(r"^Phase: +Succeeded$", told, re.MULTILINE)
    projects = installed.kubectl("get", "projects.bernstein.dev", "-A", "-o", "name")
    assert "bernstein-test" not in projects
    installed.kubectl("wait", "--for=delete", "namespace/bernstein-test", "--timeout=60s")


def test_what_is_at_work_keeps_an_uninstall_back_and_one_that_cancels_waits_for_its_end(
    installed: Stack, chart: Path, team: Team
) -> None:
    endless = does("endless", {"steps": [{"sleep": 600}]})
    here = team(GitServer.new("stays"), endless, gates=False)
    here.plan("shop", [{"name": "only", "steps": [{"title": "endless"}]}])
    _await(here, "Working")
    before = deployments(installed)

    with pytest.raises(RuntimeError, match="BackoffLimitExceeded"):
        helm(installed, "uninstall")

    told = installed.kubectl("-n", SYSTEM, "logs", "job/bernstein-removal")
    assert told.startswith("StillAtWork: without Bernstein this would never end: ")
    assert "Plan stays/shop (Running); " in told
    assert "AgentSession stays/shop-only-endless-s1 (Working)" in told
    assert "\nRemedy: " in told
    assert deployments(installed) == before
    assert "stop" not in _await(here, "Working")["spec"]

    # As the page says of a release whose uninstall was refused.
    history = json.loads(helm(installed, "history", "--output=json"))
    helm(installed, "rollback", str(history[-1]["revision"]))
    put_up(installed, chart, "uninstall.whileAtWork=cancel")
    helm(installed, "uninstall")

    assert here.get("plan", "shop")["status"]["phase"] == "Cancelled"
    _await(here, "Dead")
    agents = [pod for pod in here.all("pods") if labels.JOB in pod["metadata"]["labels"]]
    assert {pod["status"]["phase"] for pod in agents} <= {"Succeeded", "Failed"}
    assert installed.run("helm", "list", "--all", "--short", "--namespace", SYSTEM) == ""
    assert len(deployments(installed).splitlines()) <= 1


def _await(here: World, state: str) -> Object:
    """The session, once it is in this state."""
    return here.await_(
        "agentsession", "shop-only-endless-s1", lambda s: s["status"]["state"] == state
    )
