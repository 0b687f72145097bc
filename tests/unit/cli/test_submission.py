"""A plan file that is run while a Plan of its name is there."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.cli.cluster import Cluster
from bernstein.cli.errors import CliError
from bernstein.cli.settings import CliSettings
from bernstein.cli.submission import submit
from bernstein.core.plans import file as plan_file
from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from bernstein.resources import PLANS
from tests.unit.cli.scenes import ago, condition, known_as, terminal, unknown
from tests.unit.core.plans.plan_files import RATE_LIMIT
from tests.unit.kube.apiserver import ApiServer

NAME = "rate-limit-api"
REQUEST = {"id": "retry-1", "verb": "Retry", "by": "ann", "reason": "again"}


def of_file(**changed: Any) -> Object:
    """The Plan of the file, with these of its top-level fields; None: without it."""
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)
    said = {key: value for key, value in (data | changed).items() if value is not None}
    return plan_file.plan_object(said, namespace="team")


def there(api: ApiServer, plan: Object, spec: dict[str, Any], **status: Any) -> None:
    """This Plan is in the cluster; `spec`: what somebody patched of it since."""
    running = {"phase": "Running", "expanded": True, "observedGeneration": 1}
    api.put(
        PLANS,
        NAME,
        "team",
        metadata={"annotations": plan["metadata"]["annotations"], "creationTimestamp": ago(60)},
        spec=plan["spec"] | spec,
        status=running | status,
    )


async def ran(client: Client, plan: Object) -> tuple[Plan, str]:
    """The Plan that is followed, and what was said."""
    shown, console = terminal(width=400, settings=CliSettings(namespace="team"))
    found = await submit(shown, Cluster(client, "team"), plan)
    return found, console.export_text()


async def refused(client: Client, plan: Object) -> CliError:
    with pytest.raises(CliError) as raised:
        await ran(client, plan)
    return raised.value


def patches(api: ApiServer) -> list[Any]:
    return [call.body for call in api.calls if call.verb == "PATCH"]


async def test_what_may_change_while_it_runs_is_changed(api: ApiServer, client: Client) -> None:
    there(api, of_file(budget=5, max_agents=2), {})

    plan, said = await ran(client, of_file(budget="$7.50", max_agents=3))

    assert (plan.spec.budget, plan.spec.max_agents) == ("7.5", 3)
    assert said == f"Plan '{NAME}' changed: budget $5 → $7.5, max_agents 2 → 3\n"


async def test_a_file_that_equals_the_object_changes_nothing_whatever_it_was_made_of(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(budget=5), {"budget": "20"})

    _, said = await ran(client, of_file(budget=20))

    assert patches(api) == []
    assert said == f"Plan '{NAME}' unchanged: it has this content and is running\n"


async def test_a_file_that_is_older_than_the_object_is_not_taken_for_its_content(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(budget=5), {"budget": "20"})

    plan, said = await ran(client, of_file(budget=5))

    assert plan.spec.budget == "5"
    assert "budget $20 → $5" in said


async def test_who_made_it_and_its_policy_are_no_content_of_the_file(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(), {"author": "ann", "approval": {"result": "Always"}})

    plan, said = await ran(client, of_file())

    assert (plan.spec.author, patches(api)) == ("ann", [])
    assert said == f"Plan '{NAME}' unchanged: it has this content and is running\n"


async def test_a_policy_becomes_as_strict_as_the_file_says_and_keeps_what_it_does_not_say(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(), {"approval": {"plan": "Always", "result": "HighRisk"}})

    plan, said = await ran(client, of_file(approval={"result": "Always"}))

    assert plan.spec.approval is not None
    assert (plan.spec.approval.plan, plan.spec.approval.result) == ("Always", "Always")
    assert said == f"Plan '{NAME}' changed: approval.result HighRisk → Always\n"


async def test_a_plan_without_a_policy_gets_that_of_the_file(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(), {})
    wanted = {"plan": "AboveCost", "above_usd": 5.5, "expires_after_seconds": 60}

    _, said = await ran(client, of_file(approval=wanted))

    ((written,),) = [[body["spec"]] for body in patches(api)]
    policy = {"plan": "AboveCost", "aboveUsd": "5.5", "expiresAfterSeconds": 60}
    assert written == {"approval": policy}
    assert "approval.plan Never → AboveCost, approval.above_usd none → 5.5" in said


async def test_a_looser_policy_of_the_file_changes_nothing_and_that_is_said(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(), {"approval": {"plan": "Always", "approverIsNotAuthor": True}})
    looser = {"plan": "AboveCost", "above_usd": 5, "approver_is_not_author": False}

    _, said = await ran(client, of_file(approval=looser))

    assert patches(api) == []
    stays = "the policy of a Plan may only become stricter"
    assert said == (
        f"Plan '{NAME}' unchanged: it has this content and is running\n"
        f"  approval.approver_is_not_author stays true: {stays}\n"
        f"  approval.plan stays Always: {stays}\n"
    )


async def test_a_limit_that_the_file_does_not_name_stays(api: ApiServer, client: Client) -> None:
    there(api, of_file(max_agents=None), {"maxAgents": 2})

    plan, said = await ran(client, of_file(max_agents=None))

    assert plan.spec.max_agents == 2
    assert "  max_agents stays 2: the file says none\n" in said


async def test_other_work_is_refused_with_every_field_that_differs(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(budget=5), {"requests": [REQUEST], "suspend": True})
    other = of_file(budget=6, constraints=["none"])
    other["spec"]["stages"][0]["steps"][0]["priority"] = 5

    error = await refused(client, other)

    assert error.reason == "PlanExists"
    assert error.message == (
        f"there is a Plan '{NAME}' with other content "
        "(budget, constraints[0], stages[0].steps[0].priority)"
    )
    assert patches(api) == []


async def test_the_first_advice_costs_nothing_and_can_be_pasted(
    api: ApiServer, client: Client
) -> None:
    there(api, of_file(budget=5), {})

    remedy = (await refused(client, of_file(budget=6, description="x"))).remedy

    patch = f"""`kubectl patch bplan {NAME} --type merge -p '{{"spec": {{"budget": "6"}}}}'`"""
    free, _, paid = remedy.partition("to pay for all of it once more")
    assert f"to change budget alone: {patch}" in free
    assert f"`bernstein status {NAME}`" in free
    assert "--name" not in free
    assert f"--name {NAME}-2, after `bernstein cancel {NAME}`" in paid


@pytest.mark.parametrize("how", [{"phase": "Failed", "endedAt": ago(9)}, {"phase": "Stalled"}])
async def test_a_plan_with_a_failed_task_is_better_given_another_round(
    api: ApiServer, client: Client, how: dict[str, str]
) -> None:
    there(api, of_file(), {}, counts={"total": 1, "failed": 1}, **how)

    remedy = (await refused(client, of_file(description="x"))).remedy

    assert f"`bernstein retry {NAME}`" in remedy.partition("--name")[0]


async def test_an_invalid_plan_is_corrected(api: ApiServer, client: Client) -> None:
    mine = {"author": "ann", "approval": {"result": "Always"}}
    there(api, of_file(description="x", budget=5), mine, phase="Invalid", expanded=False)
    stages = of_file()["spec"]["stages"][:1]
    known_as(api, "bob")

    corrected = of_file(approval={"result": "Never", "plan": "Always"})
    corrected["spec"]["stages"] = stages
    plan, said = await ran(client, corrected)

    assert plan.dump()["spec"]["stages"][0]["name"] == stages[0]["name"]
    assert (len(plan.spec.stages), plan.spec.description) == (
        1,
        corrected["spec"].get("description"),
    )
    assert said.startswith(f"Plan '{NAME}' was Invalid and is corrected: description, ")
    assert plan.spec.author == "bob"  # what is asked about is his now
    assert plan.spec.approval is not None
    assert (plan.spec.approval.plan, plan.spec.approval.result) == ("Always", "Always")


async def test_whoever_makes_a_plan_is_its_author(api: ApiServer, client: Client) -> None:
    known_as(api, "ann")

    plan, said = await ran(client, of_file())

    assert plan.spec.author == "ann"
    assert said == f"Plan '{NAME}' created in namespace 'team'\n"


async def test_where_nobody_tells_who_makes_a_plan_it_has_no_author(
    api: ApiServer, client: Client
) -> None:
    unknown(api)

    plan, said = await ran(client, of_file())

    assert plan.spec.author is None
    assert said.endswith(f"Plan '{NAME}' created in namespace 'team'\n")


async def test_one_that_became_invalid_later_keeps_its_work(api: ApiServer, client: Client) -> None:
    there(api, of_file(), {}, phase="Invalid", expanded=True)

    assert (await refused(client, of_file(description="x"))).reason == "PlanExists"


async def test_one_that_is_being_cancelled_is_said_to_be(api: ApiServer, client: Client) -> None:
    there(api, of_file(budget=5), {"cancel": {"reason": "x"}}, phase="Cancelling")

    _, said = await ran(client, of_file(budget=6))

    assert patches(api) == []
    assert said == (
        f"Plan '{NAME}' unchanged: it is being cancelled\n"
        f"  once it has ended, run this as new work under another name: --name {NAME}-2\n"
    )


@pytest.mark.parametrize("phase", ["Succeeded", "Cancelled"])
async def test_one_that_has_ended_says_how_and_what_can_be_done(
    api: ApiServer, client: Client, phase: str
) -> None:
    done = condition("Succeeded", "True" if phase == "Succeeded" else "False", phase)
    there(api, of_file(), {}, phase=phase, endedAt=ago(9), conditions=[done])

    _, said = await ran(client, of_file())

    assert said == (
        f"Plan '{NAME}' unchanged: it has this content and has ended ({phase})\n"
        f"  run this as new work under another name: --name {NAME}-2\n"
    )


@pytest.mark.parametrize(
    ("status", "how"),
    [
        ({"phase": "PendingApproval"}, f"decide with `bernstein approve {NAME} -n team`"),
        (
            {"waiting": {"reason": "AwaitingApproval", "since": "2030-01-01T12:00:00Z"}},
            "decide what `bernstein pending -n team` lists",
        ),
    ],
)
async def test_a_plan_that_waits_for_a_person_is_not_said_to_run(
    api: ApiServer, client: Client, status: dict[str, Any], how: str
) -> None:
    plan = of_file(budget=5)
    there(api, plan, {}, **status)

    _, said = await ran(client, plan)

    assert said.endswith(f"it has this content and waits for a person, who must {how}\n")
