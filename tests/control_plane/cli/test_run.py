"""`bernstein run` against a real API server; the test plays the operator."""

from __future__ import annotations

import asyncio
import re
import signal

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.cluster import Cluster
from tests.control_plane.cli.conftest import Bernstein, Start, ended
from tests.control_plane.cli.scenes import (
    PLAN,
    SHA,
    close,
    condition,
    make_task,
    plan_exists,
    set_status,
    write,
)
from tests.control_plane.objects import PLANS, valid


async def test_run_follows_a_plan_to_its_success_and_once_more_changes_nothing(
    start: Start,
    bernstein: Bernstein,
    admin: Client,
    operator: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    running = await start("run", plan_file)
    plan = await plan_exists(admin, namespace)
    plan = await set_status(operator, plan, phase="Running", counts={"total": 2, "running": 1})
    for name, title in (
        ("small-plan-build-write-the-limiter", "Write the limiter"),
        ("small-plan-build-document-it", "Document it"),
    ):
        await close(operator, await make_task(operator, plan, name, title))
    await set_status(
        operator,
        plan,
        phase="Succeeded",
        endedAt="2030-01-01T12:00:00Z",
        spendUsd="0.5",
        counts={"total": 2, "closed": 2},
        conditions=[condition("Succeeded", "True", "Delivered", "verified and merged")],
        delivery={"state": "Merged", "sha": SHA, "onto": "refs/heads/main"},
    )
    answer = await ended(running)
    again = await bernstein("run", plan_file, "--json")

    assert answer.code == 0, answer.err
    assert answer.err == ""
    assert "1 stage, 2 steps, about 30 min, about $" in answer.out
    assert f"Plan 'small-plan' created in namespace '{namespace}'" in answer.out
    assert "small-plan-build-document-it  merged a1b2c3d4" in answer.out
    assert "✓ Succeeded: verified and merged\n  a1b2c3d4a1b2 on refs/heads/main" in answer.out
    assert plan["spec"]["budget"] == "5"
    assert again.code == 0, again.err
    assert "Plan 'small-plan' unchanged: it has this content and has ended (Succeeded)" in again.err
    assert (again.json["status"], again.json["delivery"]["sha"]) == ("succeeded", SHA)
    assert [task["status"] for task in again.json["tasks"]] == ["closed", "closed"]


async def test_run_ends_with_1_when_the_plan_needs_a_person(
    start: Start,
    admin: Client,
    operator: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    running = await start("run", plan_file, "--json", "--name", "other")
    plan = await plan_exists(admin, namespace, "other")
    task = await make_task(operator, plan, "other-build-x", "Write the limiter")
    await set_status(
        operator,
        plan,
        phase="Failed",
        conditions=[condition("Stalled", "True", "TaskFailed", "1 failed. Remedy: Look at it.")],
    )
    answer = await ended(running)

    assert answer.code == 1
    assert answer.json["status"] == "failed"
    assert answer.json["reason"] == "TaskFailed"
    assert [t["id"] for t in answer.json["tasks"]] == [task["metadata"]["name"]]
    assert "✗ Failed: TaskFailed: 1 failed.\n  Look at it." in answer.err


async def test_the_same_file_again_changes_nothing_a_budget_is_changed_and_other_work_is_refused(
    bernstein: Bernstein,
    admin: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    first = await bernstein("run", plan_file, "--no-wait")
    before = await admin.get(PLANS, "small-plan", namespace)
    again = await bernstein("run", "--from-plan", plan_file, "--no-wait", "--json")
    unchanged = await admin.get(PLANS, "small-plan", namespace)
    write(plan_file, PLAN.replace("$5", "$6"))
    raised = await bernstein("run", plan_file, "--no-wait")
    write(plan_file, PLAN.replace("$5", "$6").replace("role: docs", "role: qa"))
    other = await bernstein("run", plan_file, "--no-wait")

    assert (first.code, again.code) == (0, 0)
    assert again.json["id"] == "small-plan"
    assert "unchanged" in again.err
    assert unchanged == before
    assert raised.code == 0, raised.err
    assert "Plan 'small-plan' changed: budget $5 → $6" in raised.out
    assert (await admin.get(PLANS, "small-plan", namespace))["spec"]["budget"] == "6"
    assert other.code == 1
    assert other.err.startswith(
        "Error: there is a Plan 'small-plan' with other content (stages[0].steps[1].role)\n"
        "  nothing was changed: its work is fixed once it is applied; to see how it stands: "
        "`bernstein status small-plan -n "
    )


async def test_a_plan_applied_with_kubectl_is_followed_when_it_says_the_same(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object, plan_file: str
) -> None:
    steps = [
        {"title": "Write the limiter"},
        {"title": "Document it", "role": "docs", "priority": 2},
    ]
    await admin.create(
        PLANS,
        valid(
            "Plan",
            namespace,
            "small-plan",
            name="Small plan",
            budget="5",
            stages=[{"name": "build", "steps": steps}],
        ),
    )

    answer = await bernstein("run", plan_file, "--no-wait")

    assert answer.code == 0, answer.err
    assert "unchanged: it has this content and is running" in answer.out


async def test_what_the_project_does_not_offer_is_refused_before_a_plan_is_made(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object, plan_file: str
) -> None:
    write(plan_file, PLAN.replace("role: docs", "role: docs\n        cli: claude"))

    answer = await bernstein("run", plan_file, "--max-agents", "7")
    scripted = await bernstein("run", plan_file, "--max-agents", "7", "--json")

    assert (answer.code, scripted.code) == (2, 2)
    assert scripted.json["valid"] is False
    assert [e["path"] for e in scripted.json["errors"]] == [
        "max_agents",
        "stages[0].steps[1].cli",
    ]
    assert answer.err.splitlines() == [
        "✗ max_agents: must be <= 6, the limit of the Project, got 7",
        "✗ stages[0].steps[1].cli: invalid value 'claude', must be one of [auto, demo]",
        f"{plan_file}: 2 problems",
    ]
    assert (await admin.list(PLANS, namespace)).items == []


async def test_a_role_that_nobody_knows_is_told_once(
    bernstein: Bernstein, project: Object, plan_file: str
) -> None:
    write(
        plan_file,
        PLAN.replace("role: docs", "role: doc").replace(
            "title: Doc", "goal: x\n        title: Doc"
        ),
    )

    answer = await bernstein("run", plan_file)
    scripted = await bernstein("run", plan_file, "--json")

    assert (answer.code, scripted.code) == (2, 2)
    goal, role, count = answer.err.splitlines()
    assert goal == "! stages[0].steps[1].goal: not used, because the step has a title"
    assert role.startswith("✗ stages[0].steps[1].role: invalid value 'doc', must be one of [ana")
    assert role.endswith("vp], did you mean 'docs'?")
    assert count == f"{plan_file}: 1 problem"
    assert [warning["path"] for warning in scripted.json["warnings"]] == ["stages[0].steps[1].goal"]


async def test_a_budget_that_cannot_do_is_warned_of_before_the_plan_is_made(
    bernstein: Bernstein, project: Object, plan_file: str
) -> None:
    write(plan_file, PLAN.replace('"$5"', "0"))

    answer = await bernstein("run", plan_file, "--no-wait")

    assert answer.code == 0
    assert re.fullmatch(
        r"! budget: the estimate \$\d\.\d\d exceeds the budget \$0\.00\n", answer.err
    )


async def test_without_a_project_nothing_is_made(
    bernstein: Bernstein, admin: Client, namespace: str, plan_file: str
) -> None:
    answer = await bernstein("run", plan_file)

    assert answer.code == 1
    assert f"Error: there is no Project in namespace '{namespace}'" in answer.err
    assert (await admin.list(PLANS, namespace)).items == []


async def test_ctrl_c_leaves_the_plan_running_and_says_so(
    start: Start,
    cluster: Cluster,
    admin: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    running = await start("run", plan_file)
    await plan_exists(admin, namespace)
    where = f"-n {namespace} --kubeconfig {cluster.kubeconfig}"
    assert running.stdout is not None
    seen = b""
    while b"Pending" not in seen:
        seen += (line := await asyncio.wait_for(running.stdout.readline(), 60))
        assert line, "it ended"
    running.send_signal(signal.SIGINT)
    answer = await ended(running)

    assert answer.code == 130
    assert answer.err.splitlines() == [
        "Interrupted: Plan 'small-plan' goes on in the cluster.",
        f"  see it:     bernstein status small-plan {where}",
        f"  cancel it:  bernstein cancel small-plan {where}",
    ]
    assert "cancel" not in (await admin.get(PLANS, "small-plan", namespace))["spec"]


async def test_a_timeout_ends_the_watching_only(
    bernstein: Bernstein, namespace: str, project: Object, plan_file: str
) -> None:
    answer = await bernstein("run", plan_file, "--timeout", "1s")

    assert answer.code == 1
    assert "Error: Plan 'small-plan' has not ended after 1s" in answer.err
