"""`bernstein list-tasks` before it asks a cluster, and the reasons that it tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.api.states import TaskState
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.tasks.list_tasks import with_causes
from bernstein.cli.main import app
from bernstein.cli.output import notes
from bernstein.core.serializers import STATUSES
from bernstein.kube.client import Client
from bernstein.resources import PLANS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import ago, condition, plan, task
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer


@pytest.mark.parametrize(
    "arguments",
    [
        ["--status-filter", "shut"],
    ],
)
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "list-tasks", *arguments)


@pytest.mark.parametrize(
    ("word", "guess"),
    [
        ("pending_approval", "a task that waits for approval is done; `bernstein pending"),
        ("PendingApproval", "a task that waits for approval is done; `bernstein pending"),
        ("opne", "did you mean open? "),
        ("shut", ""),
    ],
)
def test_a_status_that_there_is_not_is_answered_with_those_that_there_are(
    runner: CliRunner, word: str, guess: str
) -> None:
    call = ["--json", "list-tasks", "--status-filter", word, "-n", "team"]

    error = json.loads(runner.invoke(app, call).stdout)["error"]

    assert error["remedy"].startswith(guess)
    assert error["remedy"].endswith("The words are: " + ", ".join(STATUSES))
    assert "done" in STATUSES


@pytest.mark.parametrize(
    "arguments",
    [
        ["--plan", ""],
        ["--namespace", "n" * 64],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "list-tasks", *arguments)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "list-tasks")


async def test_a_task_whose_plan_cannot_begin_has_the_reason_of_that(
    api: ApiServer, client: Client
) -> None:
    waiting = {"reason": "RepositoryAuthFailed", "message": "no", "since": ago(9)}
    stalled = plan(phase="Stalled", waiting=waiting | {"needsPerson": True})
    api.put(PLANS, stalled.metadata.name, "team", **stalled.dump())
    starting = {"reason": "PlanStarting", "message": "its Plan has not begun", "since": ago(9)}
    limited = {"reason": "MaxAgents", "message": "4 run", "since": ago(9)}
    tasks = [task(0, state="Open", waiting=starting), task(1, state="Open", waiting=limited)]

    found = await with_causes(Cluster(client, "team"), tasks, everywhere=False)

    assert [notes.reason(each.status.waiting) for each in found] == [
        "RepositoryAuthFailed",
        "MaxAgents",
    ]


async def test_the_filter_blocked_lists_an_open_task_that_waits_for_others_with_their_names(
    api: ApiServer, bernstein: Bernstein
) -> None:
    unmet = condition("DependenciesMet", "False", "DependencyPending")
    for each in (
        objects.task("first", plan=None, status=objects.status()),
        objects.task(
            "waits", plan=None, depends_on=["first"], status=objects.status(conditions=[unmet])
        ),
        objects.task("asks", plan=None, status=objects.status(TaskState.BLOCKED)),
    ):
        api.put(TASKS, each.metadata.name, "team", spec=each.spec.dump(), status=each.status.dump())

    async def listed(status: str) -> dict[str, tuple[str, list[str]]]:
        answer = await bernstein("list-tasks", "--json", "--status-filter", status)
        return {each["id"]: (each["status"], each["blocked_by"]) for each in answer.json}

    assert await listed("blocked") == {"waits": ("open", ["first"]), "asks": ("blocked", [])}
    assert (await listed("open")).keys() == {"first", "waits"}
