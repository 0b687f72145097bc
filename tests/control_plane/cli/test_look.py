"""Looking at Plans and Tasks, and cancelling them, against a real API server."""

from __future__ import annotations

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.cli.scenes import (
    close,
    condition,
    make_task,
    set_status,
)
from tests.control_plane.objects import PLANS, TASKS, valid


async def test_status_shows_all_plans_or_one(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    empty = await bernstein("status")
    plan = await admin.create(PLANS, valid("Plan", namespace))
    await make_task(admin, plan, "one-build-write-the-limiter", "Write the limiter")
    await set_status(
        operator,
        plan,
        phase="Pending",
        conditions=[condition("Stalled", "True", "ProjectNotFound", "there is no Project")],
    )
    everything, one = await bernstein("status"), await bernstein("status", "one")
    record = (await bernstein("--json", "status", "one")).json
    missing = await bernstein("status", "onne")
    scripted = await bernstein("status", "onne", "--json")

    assert empty.out == f"No Plans in namespace '{namespace}'.\n"
    assert everything.out.splitlines()[-1].split()[:2] == ["one", "Pending"]
    assert "○ Write the limiter" in one.out
    assert "Create the Project in this namespace, or name it in projectRef." in one.out
    assert record["reason"] == "ProjectNotFound"
    assert [task["id"] for task in record["tasks"]] == ["one-build-write-the-limiter"]
    assert missing.code == 1
    assert missing.err == (
        f"Error: there is no Plan 'onne' in namespace '{namespace}'\n  did you mean one?\n"
    )
    assert (scripted.code, scripted.err) == (1, missing.err)
    assert scripted.json["error"]["reason"] == "NotFound"


async def test_list_tasks_filters_and_gives_scripts_the_documented_names(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace, "first", role="qa"))
    second = await admin.create(TASKS, valid("Task", namespace, "second"))
    await close(operator, second)

    async def ids(*arguments: str) -> list[str]:
        answer = await bernstein("--json", "list-tasks", *arguments)
        assert answer.code == 0, answer.err
        return [task["id"] for task in answer.json]

    table = await bernstein("list-tasks", COLUMNS="80")
    assert await ids() == ["first", "second"]
    assert await ids("--role", "qa") == ["first"]
    assert await ids("--status-filter", "closed") == ["second"]
    assert [row.split()[:3] for row in table.out.splitlines()[2:]] == [
        ["first", "open", "qa"],
        ["second", "closed", "backend"],
    ]


async def test_cancel_asks_once_and_then_tells_the_state(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    closed = await admin.create(TASKS, valid("Task", namespace, "closed"))
    await close(operator, closed)

    first = await bernstein("cancel", "mine", "-r", "Not needed")
    again = await bernstein("--json", "cancel", "mine", "-r", "Other reason")
    over = await bernstein("cancel", "closed")

    assert (first.code, again.code, over.code) == (0, 0, 0)
    assert first.out.startswith("Task 'mine' is being cancelled: ")
    assert again.json["id"] == "mine"
    assert over.out == "Task 'closed' has ended already (closed): nothing changed\n"
    live = await admin.get(TASKS, task["metadata"]["name"], namespace)
    assert live["spec"]["cancel"] == {"reason": "Not needed"}
    assert "cancel" not in (await admin.get(TASKS, "closed", namespace))["spec"]


async def test_cancel_takes_a_plan_too_and_asks_which_when_both_have_the_name(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "same"))
    await admin.create(TASKS, valid("Task", namespace, "same"))

    both = await bernstein("cancel", "same")
    plan = await bernstein("cancel", "plan/same")
    nothing = await bernstein("cancel", "sam")

    assert both.code == 2
    assert "write plan/same or task/same" in both.err
    assert plan.code == 0, plan.err
    live = await admin.get(PLANS, "same", namespace)
    assert live["spec"]["cancel"] == {"reason": "Cancelled by user"}
    assert "cancel" not in (await admin.get(TASKS, "same", namespace))["spec"]
    assert nothing.code == 1
    assert "there is no Task or Plan 'sam'" in nothing.err


async def test_who_may_not_is_told_the_verb_and_the_resource(
    bernstein: Bernstein, stranger: str, namespace: str
) -> None:
    answer = await bernstein("status", "--kubeconfig", stranger)

    assert answer.code == 1
    assert answer.err == (
        f'Error: you may not list plans in the namespace "{namespace}"\n'
        "  ask for a Role that allows 'list' on 'plans'\n"
    )


async def test_a_namespace_that_is_not_there_is_named(
    bernstein: Bernstein, plan_file: str, project: Object
) -> None:
    answer = await bernstein("run", plan_file, "--namespace", "nowhere-at-all")

    assert answer.code == 1
    assert "there is no Project in namespace 'nowhere-at-all'" in answer.err
