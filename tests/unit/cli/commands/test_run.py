"""`bernstein run` before it asks a cluster, and what it asks of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app
from bernstein.resources import PLANS, PROJECTS, ROLES
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.core.plans.plan_files import RATE_LIMIT
from tests.unit.kube.apiserver import ApiServer


def test_a_file_that_is_not_there_is_named(runner: CliRunner) -> None:
    calls.names_a_missing_file(runner, "run")


def test_an_empty_name_is_no_file_and_not_the_folder(runner: CliRunner) -> None:
    calls.takes_an_empty_name_for_no_file(runner, "run")


def test_with_json_a_plan_file_that_is_refused_is_the_answer(
    runner: CliRunner, tmp_path: Path
) -> None:
    calls.answers_a_refused_plan_file_in_json(runner, "run", tmp_path)


def test_an_invalid_plan_is_not_run_and_no_cluster_is_asked(runner: CliRunner, broken: str) -> None:
    result = runner.invoke(app, ["run", broken, "--kubeconfig", "/nowhere"])

    assert result.exit_code == 2
    assert "✗ max_agents: expected type integer, got string" in result.stderr
    assert "kubeconfig" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.yaml", "--from-plan", "b.yaml"],
        ["a.yaml", "--max-agents", "0"],
        ["-", "--timeout", "soon"],
        ["-", "--approval", "always"],
        ["-", "--merge", "squash"],
    ],
)
def test_a_wrong_call_ends_with_2(runner: CliRunner, arguments: list[str]) -> None:
    calls.ends_with_2(runner, "run", *arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["-", "--name", ""],
        ["-", "--project", ""],
        ["-", "-n", "a\nb"],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "run", *arguments)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "run", "-")


# --- in a cluster ---------------------------------------------------------------------------------

NAME = "rate-limit-api"


def project(api: ApiServer, **approval: Any) -> None:
    known_as(api, "ann")
    api.put(PROJECTS, "default", "team", **objects.project(approval=approval).dump())


def policy(api: ApiServer) -> Any:
    """That of the Plan that was made."""
    return api.get(PLANS, NAME, "team")["spec"].get("approval")


@pytest.fixture
def asking(tmp_path: Path) -> str:
    """A plan file that says when people decide."""
    path = tmp_path / "asking.yaml"
    path.write_text(f"{RATE_LIMIT}\napproval: {{result: HighRisk, expires_after_seconds: 3600}}\n")
    return str(path)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ([], {"result": "HighRisk", "expiresAfterSeconds": 3600}),
        (["--approval", "review"], {"result": "Always", "expiresAfterSeconds": 3600}),
        (["--approval", "none"], {"result": "Never", "expiresAfterSeconds": 3600}),
    ],
)
async def test_the_call_says_whether_a_person_must_approve_results_before_the_file_does(
    api: ApiServer, bernstein: Bernstein, asking: str, given: list[str], made: dict[str, Any]
) -> None:
    project(api)

    answer = await bernstein("run", asking, "--no-wait", *given)

    assert (answer.code, answer.err) == (0, "")
    assert policy(api) == made


@pytest.mark.parametrize(
    ("wrong", "hinted"), [("model: local-coder", True), ("cli: nobody", False)]
)
async def test_a_model_that_only_the_operators_prices_may_know_is_told_where_to_name(
    api: ApiServer, bernstein: Bernstein, tmp_path: Path, wrong: str, hinted: bool
) -> None:
    project(api)
    path = tmp_path / "wrong.yaml"
    path.write_text(RATE_LIMIT.replace("role: docs", f"role: docs\n        {wrong}"))

    answer = await bernstein("run", str(path), "--no-wait")

    assert answer.code == 2
    assert wrong.split()[-1] in answer.err
    assert ("budget.prices" in answer.err) is hinted


async def test_review_makes_the_policy_of_a_plan_that_is_there_stricter_and_none_leaves_it(
    api: ApiServer, bernstein: Bernstein, good: str
) -> None:
    project(api)
    await bernstein("run", good, "--no-wait")
    before = policy(api)

    review = await bernstein("run", good, "--no-wait", "--approval", "review")
    none = await bernstein("run", good, "--no-wait", "--approval", "none")

    assert (before, policy(api)) == (None, {"result": "Always"})
    assert f"Plan '{NAME}' changed: approval.result Never → Always" in review.out
    assert "approval.result stays Always: the policy of a Plan may only become" in none.out
    assert (review.code, none.code) == (0, 0)


async def test_people_whom_the_project_asks_are_named_where_the_call_asks_nobody(
    api: ApiServer, bernstein: Bernstein, good: str
) -> None:
    project(api, plan="AboveCost", aboveUsd="0", result="Always")

    answer = await bernstein("run", good, "--no-wait", "--approval", "none", "--merge", "direct")

    asks = "plan: AboveCost, result: Always"
    assert answer.code == 0
    assert answer.err == f"! people are asked all the same, by Project 'default' ({asks})\n"


async def test_a_plan_that_a_person_must_decide_about_is_not_said_to_go_on_or_run(
    api: ApiServer, bernstein: Bernstein, good: str
) -> None:
    known_as(api, "ann")
    api.put(PROJECTS, "default", "team", **objects.project().dump())
    await bernstein("run", good, "--no-wait")
    (name,) = api.names(PLANS)
    made = api.get(PLANS, name, "team")
    api.put(PLANS, name, "team", **made | {"status": {"phase": "PendingApproval"}})

    answer = await bernstein("run", good, "--timeout", "1s", "-n", "team")

    command = f"decide with `bernstein approve {name} -n team "
    assert f"it has this content and waits for a person, who must {command}" in answer.out
    assert f"  a person must {command}" in answer.err
    assert (answer.code, "goes on" in answer.err) == (1, False)


async def test_a_run_may_ask_for_a_pull_request_and_never_for_less_than_the_project(
    api: ApiServer, bernstein: Bernstein, good: str
) -> None:
    known_as(api, "ann")
    (repository,) = objects.project().spec.repositories
    forge = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
    on_a_forge = [{**repository.dump(), "forge": forge}]

    of_people = objects.project(repositories=on_a_forge, merge={"strategy": "pr"})
    api.put(PROJECTS, "default", "team", **of_people.dump())
    refused = await bernstein("run", good, "--no-wait", "--merge", "direct")
    assert (refused.code, "--merge direct: the Project" in refused.err) == (2, True)
    assert api.names(PLANS) == []

    alone = objects.project(repositories=on_a_forge)
    api.put(PROJECTS, "default", "team", **alone.dump())
    made = await bernstein("run", good, "--no-wait", "--merge", "pr")
    assert (made.code, api.get(PLANS, NAME, "team")["spec"]["merge"]) == (0, "pr")
    again = await bernstein("run", good, "--no-wait", "--merge", "pr")
    assert again.code == 0
    other = await bernstein("run", good, "--no-wait")
    assert (other.code, "--name" in other.err) == (1, True), "other content under the same name"


async def test_a_role_of_the_namespace_is_nothing_to_warn_of(
    api: ApiServer, bernstein: Bernstein, tmp_path: Path
) -> None:
    project(api)
    path = tmp_path / "plan.yaml"
    path.write_text(RATE_LIMIT.replace("role: backend", "role: sre"))
    unknown = await bernstein("run", str(path), "--no-wait")
    api.put(ROLES, "sre", "team", spec={"prompt": "You keep it up."})

    known = await bernstein("run", str(path), "--no-wait")

    assert "role: invalid value 'sre'" in unknown.err
    assert unknown.code == 2
    assert (known.code, known.err) == (0, "")
