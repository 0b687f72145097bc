"""`bernstein run --goal` before it asks a cluster, and what it asks of one and tells of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer

GOAL = "Limit how often one client may call the API"
CALL = ("run", "--goal", GOAL)


def project(api: ApiServer, **spec: Any) -> None:
    known_as(api, "ann")
    api.put(PROJECTS, "default", "team", **objects.project(**spec).dump())


def the_task(api: ApiServer) -> Any:
    (name,) = api.names(TASKS)
    return api.get(TASKS, name, "team")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--goal", "x", "plan.yaml"],
        ["--goal", "x", "--from-plan", "plan.yaml"],
        ["plan.yaml", "--budget", "5"],
    ],
)
def test_a_goal_goes_with_no_plan_file_and_a_budget_with_nothing_else(
    runner: CliRunner, arguments: list[str]
) -> None:
    calls.ends_with_2(runner, "run", *arguments)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--goal", ""], "a goal has 1 to 8,192 characters"),
        (["--goal", "\u200b"], "a goal has 1 to 8,192 characters"),
        (["--goal", "x" * 8193], "a goal has 1 to 8,192 characters"),
        (["--goal", "limit\u202e it"], "characters that nobody sees"),
        (["--goal", "x", "--budget", "much"], "'much' is no sum of US dollars"),
        (["--goal", "x", "--budget", "1.234"], "'1.234' has fractions of a cent"),
        (["--goal", "x", "--timeout", "soon"], "no duration"),
        (["--goal", "x", "--name", "A b"], "A b"),
    ],
)
async def test_what_can_be_no_goal_is_refused_before_anything_is_made(
    api: ApiServer, bernstein: Bernstein, arguments: list[str], told: str
) -> None:
    project(api)

    answer = await bernstein("run", *arguments, "--no-wait")

    assert answer.code == 2
    assert told in answer.err
    assert api.names(TASKS) == []


async def test_it_makes_a_task_of_a_manager_that_is_to_leave_a_plan(
    api: ApiServer, bernstein: Bernstein
) -> None:
    project(api)

    answer = await bernstein(*CALL, "--no-wait")

    assert (answer.code, answer.err) == (0, "")
    spec = the_task(api)["spec"]
    assert (spec["title"], spec["description"]) == (f"Plan: {GOAL}", GOAL)
    assert (spec["role"], spec["changes"], spec["maxRetries"]) == ("manager", "none", 1)
    assert spec["produces"] == {"plan": {}}
    assert spec["author"] == "ann"
    name = the_task(api)["metadata"]["name"]
    assert f"Task '{name}' created" in answer.out


async def test_what_the_call_says_of_the_plan_is_in_the_task(
    api: ApiServer, bernstein: Bernstein
) -> None:
    project(api)
    options = ("--name", "limits", "--budget", "$5.50", "--max-agents", "2", "--approval", "review")

    await bernstein(*CALL, "--no-wait", *options, "--merge", "pr")

    assert the_task(api)["spec"]["produces"]["plan"] == {
        "name": "limits",
        "budget": "5.5",
        "maxAgents": 2,
        "approval": {"result": "Always"},
        "merge": "pr",
    }


async def test_direct_is_refused_where_people_merge(api: ApiServer, bernstein: Bernstein) -> None:
    whole = objects.project().dump()
    known_as(api, "ann")
    whole["spec"] |= {"merge": {"strategy": "pr"}}
    api.put(PROJECTS, "default", "team", **whole)

    answer = await bernstein(*CALL, "--no-wait", "--merge", "direct")

    assert answer.code == 2
    assert "people merge pull requests" in answer.err
    assert api.names(TASKS) == []


async def test_the_same_goal_once_more_makes_no_second_task(
    api: ApiServer, bernstein: Bernstein
) -> None:
    project(api)
    await bernstein(*CALL, "--no-wait")

    again = await bernstein(*CALL, "--no-wait")
    other = await bernstein("run", "--goal", f"{GOAL}.", "--no-wait")

    assert "unchanged: it has this goal already" in again.out
    assert "created" in other.out
    assert len(api.names(TASKS)) == 2


async def made(api: ApiServer, bernstein: Bernstein, **status: Any) -> str:
    """The name of the Task, which is there and has this status."""
    project(api)
    await bernstein(*CALL, "--no-wait")
    task = the_task(api)
    found = {"observedGeneration": 1, "conditions": [], **status}
    api.put(TASKS, task["metadata"]["name"], "team", spec=task["spec"], status=found)
    return str(task["metadata"]["name"])


def plan(api: ApiServer, task: str, *, name: str = "limits", **status: Any) -> None:
    obj = objects.plan("limits", begun=False, approval={"plan": "Always"}).dump()
    found = {"phase": "PendingApproval", "observedGeneration": 1, "startedAt": objects.at(0)}
    labels = {"bernstein.dev/task": task}
    stored = json.loads(json.dumps(found | status, default=lambda at: at.isoformat()))
    api.put(PLANS, name, "team", spec=obj["spec"], status=stored, metadata={"labels": labels})


CLOSED = {"state": "Closed", "produced": {"plan": "limits"}}


async def test_it_tells_the_plan_how_to_read_it_and_how_to_decide(
    api: ApiServer, bernstein: Bernstein
) -> None:
    plan(api, await made(api, bernstein, **CLOSED))

    answer = await bernstein(*CALL)

    assert answer.code == 0
    assert "✓ Plan 'limits' is made: 1 stage, 1 step" in answer.out
    assert "bernstein plan show plan/limits" in answer.out
    assert "bernstein plan graph plan/limits" in answer.out
    assert "bernstein approve limits" in answer.out


@pytest.mark.parametrize("state", ["InProgress", "Closed"])
async def test_a_plan_that_somebody_has_labelled_so_is_not_the_one_that_the_task_has_produced(
    api: ApiServer, bernstein: Bernstein, state: str
) -> None:
    name = await made(api, bernstein, **(CLOSED if state == "Closed" else {"state": state}))
    plan(api, name, name="theirs")
    if state == "Closed":
        plan(api, "another")  # the label of the right one was changed

    answer = await bernstein(*CALL, "--timeout", "1s")

    assert "theirs" not in answer.out
    assert ("✓ Plan 'limits' is made" in answer.out) is (state == "Closed")


async def test_with_json_task_and_plan_are_the_answer(api: ApiServer, bernstein: Bernstein) -> None:
    name = await made(api, bernstein, **CLOSED)
    plan(api, name)

    answer = await bernstein(*CALL, "--json")

    told = json.loads(answer.out)
    assert told["task"]["id"] == name
    assert told["task"]["produced_plan"] == "limits"
    assert (told["plan"]["id"], told["plan"]["status"]) == ("limits", "pending_approval")


async def test_a_plan_that_was_deleted_is_told(api: ApiServer, bernstein: Bernstein) -> None:
    await made(api, bernstein, **CLOSED)

    answer = await bernstein(*CALL)

    assert answer.code == 1
    assert "Plan 'limits' was deleted" in answer.out


async def test_who_left_no_valid_plan_fails_with_the_problems(
    api: ApiServer, bernstein: Bernstein
) -> None:
    waits = {
        "reason": "PlanFileInvalid",
        "message": "no retry is left after 2 attempts",
        "needsPerson": True,
        "since": "2030-01-01T12:00:00Z",
    }
    stalled = {
        "type": "Stalled",
        "status": "True",
        "reason": "PlanFileInvalid",
        "message": waits["message"],
        "lastTransitionTime": "2030-01-01T12:00:00Z",
    }
    text = "the plan file .bernstein/plan.yaml is no valid plan:\nmax_agents: must be <= 6"
    attempt = {
        "session": "x-s2", "attempt": 2, "counted": True,
        "reason": "PlanFileInvalid", "message": text,
    }  # fmt: skip
    await made(
        api, bernstein, state="Failed", attempt=2, waiting=waits, conditions=[stalled],
        attempts=[attempt],
    )  # fmt: skip

    answer = await bernstein(*CALL)

    assert answer.code == 1
    assert "max_agents: must be <= 6" in answer.out
    assert "no retry is left" in answer.out


async def test_out_of_time_the_task_goes_on(api: ApiServer, bernstein: Bernstein) -> None:
    name = await made(api, bernstein, state="InProgress")

    answer = await bernstein(*CALL, "--timeout", "1s")

    assert answer.code == 1
    assert f"there is no Plan yet after 1s: Task '{name}' is in_progress" in answer.err


async def test_why_it_is_planned_anew_is_told_while_it_goes_on(
    api: ApiServer, bernstein: Bernstein
) -> None:
    text = "PlanFileInvalid: the plan file is no valid plan:\nstages[0].steps[0].role: no such role"
    await made(api, bernstein, state="InProgress", attempt=1, feedback=text)

    answer = await bernstein(*CALL, "--timeout", "3s")

    assert answer.out.count("stages[0].steps[0].role: no such role") == 1
