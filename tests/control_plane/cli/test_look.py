"""Looking at Plans and Tasks, and cancelling them, against a real API server."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
import typer

from bernstein.cli.commands.cancel import cancel
from bernstein.cli.settings import CliSettings
from bernstein.kube.client import Client
from bernstein.kube.resource import Object, Resource
from tests.cluster import Cluster
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
    words = {"description": "What people should know of it."}
    plan = await admin.create(PLANS, valid("Plan", namespace, **words))
    await make_task(operator, plan, "one-build-write-the-limiter", "Write the limiter")
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
    assert one.out.splitlines()[1].strip() == "What people should know of it."
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

    table = await bernstein("list-tasks", COLUMNS="120")
    assert await ids() == ["first", "second"]
    assert await ids("--role", "qa") == ["first"]
    assert await ids("--status-filter", "closed") == ["second"]
    first, second_row = (row.split() for row in table.out.splitlines()[2:])
    assert (first[:2], "qa" in first) == (["first", "open"], True)
    assert (second_row[:2], "backend" in second_row) == (["second", "closed"], True)


async def test_cancel_asks_once_and_then_tells_the_state(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str, user: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    closed = await admin.create(TASKS, valid("Task", namespace, "closed"))
    await close(operator, closed)

    first = await bernstein("cancel", "mine", "-r", "Not needed")
    again = await bernstein("--json", "cancel", "mine", "-r", "Other reason")
    over = await bernstein("cancel", "closed")

    assert (first.code, again.code, over.code) == (0, 0, 0)
    assert first.out == "Task 'mine' is being cancelled\n", "no agent needs time"
    assert again.json["id"] == "mine"
    assert over.out == "Task 'closed' has ended already (closed): nothing changed\n"
    live = await admin.get(TASKS, task["metadata"]["name"], namespace)
    assert live["spec"]["cancel"] == {"reason": "Not needed", "by": user}
    assert "cancel" not in (await admin.get(TASKS, "closed", namespace))["spec"]


async def test_a_filter_that_nothing_can_match_is_an_error_and_no_empty_list(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace))
    await admin.create(TASKS, valid("Task", namespace, "mine", role="gardener"))

    empty = await bernstein("list-tasks", "--plan", "one", "--role", "gardener")
    unknown = await bernstein("list-tasks", "--plan", "on")
    near = await bernstein("list-tasks", "--role", "gardner")
    far = await bernstein("list-tasks", "--role", "x", "--json")

    assert (empty.code, empty.out) == (0, f"No tasks that match in namespace '{namespace}'.\n")
    assert (unknown.code, unknown.err) == (
        1,
        f"Error: there is no Plan 'on' in namespace '{namespace}'\n  did you mean one?\n",
    )
    assert (near.code, near.err) == (
        2,
        "Error: 'gardner' is no role of a task\n  did you mean gardener?\n",
    )
    assert (far.code, far.json["error"]["reason"]) == (2, "InvalidRole")
    assert far.json["error"]["remedy"].startswith("use one of: analyst, architect, backend, ")


@pytest.mark.parametrize(("kind", "resource"), [("Task", TASKS), ("Plan", PLANS)])
async def test_who_cancels_a_moment_after_somebody_else_changes_nothing(
    cluster: Cluster,
    admin: Client,
    namespace: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    resource: Resource,
) -> None:
    await admin.create(resource, valid(kind, namespace, "mine"))
    send = Client.patch

    async def somebody_is_faster(client: Client, *arguments: Any, **options: Any) -> Object:
        faster = {"spec": {"cancel": {"reason": "Somebody else's"}}}
        await send(client, resource, "mine", namespace, faster)
        return await send(client, *arguments, **options)

    monkeypatch.setattr(Client, "patch", somebody_is_faster)
    settings = CliSettings(json=True, namespace=namespace, kubeconfig=str(cluster.kubeconfig))
    with pytest.raises(typer.Exit) as ended:
        await asyncio.to_thread(cancel, settings, "mine", "Mine")
    scripted = capsys.readouterr()
    with pytest.raises(typer.Exit) as ended_again:
        await asyncio.to_thread(cancel, replace(settings, json=False), "mine", "Mine")
    live = await admin.get(resource, "mine", namespace)

    assert (ended.value.exit_code, ended_again.value.exit_code) == (0, 0)
    assert (json.loads(scripted.out)["id"], scripted.err) == ("mine", "")
    assert f"{kind} 'mine' is being cancelled already" in capsys.readouterr().out
    assert live["spec"]["cancel"] == {"reason": "Somebody else's"}


async def test_cancel_takes_a_plan_too_and_asks_which_when_both_have_the_name(
    bernstein: Bernstein, admin: Client, namespace: str, user: str
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
    assert live["spec"]["cancel"] == {"reason": "Cancelled by user", "by": user}
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
