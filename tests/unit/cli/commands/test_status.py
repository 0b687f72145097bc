"""`bernstein status` before it asks a cluster, and what it says of a Plan's Project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.core.sanitise import quoting
from bernstein.resources import PLANS, PROJECTS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import condition, needs, plan
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer


@pytest.mark.parametrize(
    "arguments",
    [
        [""],
        [".."],
        ["mine/status"],
        ["100%"],
        ["--namespace", "t1/../x"],
        ["--namespace", "Team"],
    ],
)
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, arguments: list[str], tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, "status", *arguments)


def test_without_a_kubeconfig_it_says_so(runner: CliRunner, tmp_path: Path) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, "status")


REFUSED = (
    "deliver: the git server refuses its password. Remedy: Correct the password in the Secret."
)


@pytest.fixture
def refused(api: ApiServer) -> None:
    """A Project whose probe has found that it could not deliver."""
    obj = objects.project().dump()
    obj["status"] = {"conditions": [condition("Ready", "False", "CredentialRefused", REFUSED)]}
    api.put(PROJECTS, "default", "team", **obj)


def put_plan(api: ApiServer, **status: Any) -> str:
    obj = plan(project="default", **status).dump()
    name: str = obj["metadata"]["name"]
    api.put(PLANS, name, "team", **obj)
    return name


@pytest.mark.usefixtures("refused")
async def test_that_its_project_could_not_deliver_is_told_while_a_plan_is_at_work(
    api: ApiServer, bernstein: Bernstein
) -> None:
    answer = await bernstein("status", put_plan(api))

    assert answer.out.splitlines()[-2:] == [
        "! Project 'default' is not ready (CredentialRefused): deliver: the git server refuses its "
        "password.",
        "  Correct the password in the Secret.",
    ]


@pytest.mark.usefixtures("refused")
async def test_what_the_git_server_said_to_its_projects_probe_is_shown_while_a_plan_is_at_work(
    api: ApiServer, bernstein: Bernstein
) -> None:
    said = quoting("it refuses the push", "remote: \x1b[31mnot for deliver", 250)
    finding = {"subject": "deliver", "reason": "CredentialRefused", "message": said}
    pointing = "deliver: it refuses the push; status.probe has its words. Remedy: Let it push."
    ready = condition("Ready", "False", "CredentialRefused", pointing)
    probe = {"generation": 1, "number": 0, "findings": [finding]}
    api.put(PROJECTS, "default", "team", status={"conditions": [ready], "probe": probe})

    answer = await bernstein("status", put_plan(api))

    assert answer.out.splitlines()[-2:] == [
        "! Project 'default' is not ready (CredentialRefused): deliver: it refuses the push: "
        "remote: not for deliver.",
        "  Let it push.",
    ]


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize("over", ["ended", "stalled"])
async def test_of_a_plan_that_has_ended_or_stands_still_its_own_end_is_told_and_no_more(
    api: ApiServer, bernstein: Bernstein, over: str
) -> None:
    status: dict[str, Any] = {
        "ended": {"phase": "Succeeded", "conditions": [condition("Succeeded", "True", "Done")]},
        "stalled": {"phase": "Stalled", **needs("CredentialRefused", REFUSED)},
    }[over]

    answer = await bernstein("status", put_plan(api, **status))

    assert answer.code == 0
    assert "Project 'default' is not ready" not in answer.out


async def test_of_a_project_that_is_ready_or_unknown_status_says_nothing(
    api: ApiServer, bernstein: Bernstein
) -> None:
    async def told() -> list[str]:
        """Behind the first line, which says for how many seconds it has been at work."""
        return (await bernstein("status", name)).out.splitlines()[1:]

    name = put_plan(api)
    without = await told()
    api.put(PROJECTS, "default", "team", **objects.project().dump())

    assert await told() == without
    api.fault = lambda call: 403 if call.plural == "projects" else None
    assert await told() == without


async def test_what_a_person_must_decide_is_told_with_the_command(
    api: ApiServer, bernstein: Bernstein
) -> None:
    waiting = {
        "reason": "AwaitingApproval",
        "message": "a person must decide, as Approval 'a' asks",
    }
    name = put_plan(
        api, phase="PendingApproval", waiting=waiting | {"since": "2030-01-01T12:00:00Z"}
    )

    answer = await bernstein("status", name, "-n", "team")

    *_, message, helps = answer.out.splitlines()
    assert message == "a person must decide, as Approval 'a' asks"
    assert helps.startswith(f"  decide with `bernstein approve {name} -n team ")


async def test_where_there_are_tasks_and_no_plan_it_says_what_lists_them(
    api: ApiServer, bernstein: Bernstein
) -> None:
    none = (await bernstein("status")).out
    api.put(TASKS, "work", "team", **objects.task().dump())

    said = (await bernstein("status", "-n", "team")).out

    assert none == "No Plans in namespace 'team'.\n"
    assert said.startswith("No Plans in namespace 'team'; `bernstein list-tasks -n team ")
    assert said.endswith("` lists 1 Task\n")


async def test_who_may_not_read_tasks_is_told_of_no_plans_all_the_same(
    api: ApiServer, bernstein: Bernstein
) -> None:
    api.fault = lambda call: 403 if call.plural == TASKS.plural else None

    answer = await bernstein("status")

    assert (answer.code, answer.out) == (0, "No Plans in namespace 'team'.\n")
