"""`suspend`, `resume` and lists of all namespaces, against a real API server."""

from __future__ import annotations

from bernstein.kube.client import Client
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.objects import PLANS, TASKS, valid


async def test_a_plan_is_suspended_once_and_resumed_once(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "one"))

    first, again = await bernstein("suspend", "one"), await bernstein("suspend", "plan/one")
    suspended = await admin.get(PLANS, "one", namespace)
    back, over = await bernstein("resume", "one"), await bernstein("resume", "one")
    resumed = await admin.get(PLANS, "one", namespace)
    missing = await bernstein("resume", "onne")

    assert first.out.startswith("Plan 'one' is suspended: no new session starts")
    assert again.out == "Plan 'one' is suspended already: nothing changed\n"
    assert suspended["spec"]["suspend"] is True
    assert suspended["metadata"]["generation"] == 2
    assert back.out == "Plan 'one' goes on\n"
    assert over.out == "Plan 'one' is not suspended: nothing changed\n"
    assert resumed["spec"]["suspend"] is False
    assert resumed["metadata"]["generation"] == 3
    assert missing.code == 1
    assert "did you mean one?" in missing.err


async def test_a_plan_that_is_cancelled_is_left_alone(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "one", cancel={"reason": "Enough"}))

    assert (await bernstein("suspend", "one")).out == (
        "Plan 'one' is being cancelled: nothing changed\n"
    )


async def test_plans_and_tasks_of_all_namespaces_are_listed_with_theirs(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "plan-of-many"))
    await admin.create(TASKS, valid("Task", namespace, "task-of-many"))

    plans = await bernstein("status", "-A")
    tasks = await bernstein("list-tasks", "-A", "-n", "default")
    records = (await bernstein("status", "--json", "--all-namespaces")).json
    words = await bernstein("status", "plans")
    refused = await bernstein("status", "plan-of-many", "-A")

    assert plans.out.split()[:2] == ["NAMESPACE", "PLAN"]
    assert [namespace, "plan-of-many"] in [row.split()[:2] for row in plans.out.splitlines()]
    assert [namespace, "task-of-many"] in [row.split()[:2] for row in tasks.out.splitlines()]
    assert namespace in {record["namespace"] for record in records}
    assert "plan-of-many" in words.out
    assert refused.code == 2
