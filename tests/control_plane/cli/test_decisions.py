"""`bernstein pending`, `approve` and `reject` against a real API server; the test acts in the
operator's place."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.control_plane.cli.conftest import Bernstein, KubeconfigOf
from tests.control_plane.cli.scenes import PLAN, now, set_status
from tests.control_plane.conftest import Person, Tools, eventually
from tests.control_plane.objects import APPROVALS, PLANS, PROJECTS, TASKS, valid

NAME = "one-approval-1"
SHA = "a" * 40


def asks() -> Object:
    asked: Object = valid("Approval", "")["spec"]["asks"]
    return asked


def record(**more: Any) -> Object:
    return {"name": NAME, "asks": asks(), "because": ["why"], "since": now(), **more}


async def waits(admin: Client, operator: Client, namespace: str) -> Object:
    """A Task whose work a person decides about."""
    task = await admin.create(TASKS, valid("Task", namespace))
    for state in ("Open", "Claimed", "InProgress", "Done", "PendingApproval"):
        task = await set_status(operator, task, state=state, attempt=1, approval=record())
    about = {"kind": "Task", "name": "one", "uid": task["metadata"]["uid"]}
    approval = valid("Approval", namespace, NAME, subject=about)
    await operator.create(APPROVALS, approval)
    shown = {"title": "Write the limiter", "because": ["why"], "filesChanged": 2, "costUsd": "0.5"}
    status = {"status": {"state": "Pending", "shown": shown}}
    await operator.patch(APPROVALS, NAME, namespace, status, subresource="status")
    return task


async def acted(admin: Client, operator: Client, namespace: str, state: str) -> Object:
    """What the operator writes once somebody has decided."""
    found: list[Object] = []

    async def there() -> bool:
        approval = await admin.get(APPROVALS, NAME, namespace)
        found[:] = [approval["spec"]] if "decision" in approval["spec"] else []
        return bool(found)

    await eventually(there)
    (spec,) = found
    done = record(decision=spec["decision"], by=spec["decidedBy"], time=now())
    await set_status(operator, await admin.get(TASKS, "one", namespace), state=state, approval=done)
    return spec


async def test_what_waits_is_listed_with_the_names_that_scripts_know(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await waits(admin, operator, namespace)

    found = await bernstein("pending", "--json")
    shown = await bernstein("pending")

    (told,) = found.json
    assert (told["id"], told["task_id"], told["status"]) == (NAME, "one", "pending")
    assert (told["files_changed"], told["cost_usd"], told["because"]) == (2, 0.5, ["why"])
    assert "one" in shown.out


async def test_nothing_waits(bernstein: Bernstein, namespace: str) -> None:
    assert "Nothing waits" in (await bernstein("pending")).out
    assert (await bernstein("pending", "--json")).json == []


async def test_verdicts_on_their_way_are_waited_for_where_people_are_asked(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(PROJECTS, valid("Project", namespace, approval={"result": "Always"}))
    task = await admin.create(TASKS, valid("Task", namespace))
    for state in ("Open", "Claimed", "InProgress", "Done"):
        task = await set_status(operator, task, state=state)

    soon = await bernstein("pending", "--json", "--no-wait")
    late = asyncio.ensure_future(bernstein("pending", "--json", "--timeout", "60s"))
    await asyncio.sleep(2)
    assert not late.done()
    await set_status(operator, task, state="Closed")

    assert soon.json == []
    assert (await late).json == []


async def test_one_approves_in_ones_own_name_and_may_repeat_it(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str, user: str
) -> None:
    await waits(admin, operator, namespace)

    first, spec = await asyncio.gather(
        bernstein("approve", "one"), acted(admin, operator, namespace, "Done")
    )
    again = await bernstein("approve", "one", "--json")
    plainly = await bernstein("approve", "one")

    assert spec == spec | {"decision": "Approve", "decidedBy": user}
    assert f"Task 'one' is approved by {user}" in first.out
    assert (again.code, again.json["id"], again.json["status"]) == (0, "one", "done")
    assert plainly.code == 0
    assert f"Task 'one' was approved by {user} already: nothing changed" in plainly.out


async def test_another_decision_than_the_first_ends_with_1(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await waits(admin, operator, namespace)
    _, spec = await asyncio.gather(
        bernstein("reject", "one", "--reason", "not this"),
        acted(admin, operator, namespace, "Cancelled"),
    )

    late = await bernstein("approve", "one", "--json")

    assert (spec["decision"], spec["reason"]) == ("Reject", "not this")
    assert (late.code, late.json["error"]["reason"]) == (1, "DecidedAlready")


async def test_work_is_sent_back_with_a_reason(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await waits(admin, operator, namespace)

    sent, spec = await asyncio.gather(
        bernstein("reject", "one", "--retry", "-r", "use the other library"),
        acted(admin, operator, namespace, "Failed"),
    )

    assert (spec["decision"], spec["reason"]) == ("Retry", "use the other library")
    assert "is sent back" in sent.out


async def test_whoever_runs_a_file_is_the_author_of_its_plan(
    bernstein: Bernstein, admin: Client, namespace: str, user: str, tmp_path: Path
) -> None:
    await admin.create(PROJECTS, valid("Project", namespace))
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)

    done = await bernstein("run", str(file), "--no-wait")

    assert done.code == 0, done
    plan = await admin.get(PLANS, "small-plan", namespace)
    assert plan["spec"]["author"] == user


async def test_an_approval_of_an_attempt_before_is_no_answer_to_what_is_done_now(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace))
    old = record(decision="Approve", by="ann", time=now())
    await set_status(operator, task, state="Open", attempt=2, approval=old)

    found = await bernstein("approve", "one", "--json")

    assert (found.code, found.json["error"]["reason"]) == (1, "NothingToDecide")


async def test_where_nobody_is_asked_there_is_nothing_to_decide(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace))

    found = await bernstein("approve", "one", "--json")

    assert (found.code, found.json["error"]["reason"]) == (1, "NothingToDecide")


@pytest.mark.parametrize("role", ["view", "edit"])
async def test_nobody_decides_by_a_role_of_the_cluster_with_the_program_or_with_kubectl(
    bernstein: Bernstein,
    tools: Tools,
    person: Person,
    kubeconfig_of: KubeconfigOf,
    admin: Client,
    operator: Client,
    namespace: str,
    role: str,
) -> None:
    await waits(admin, operator, namespace)
    await person(role)
    config = kubeconfig_of(role)

    decided = [
        await bernstein("--json", command, "one", "--kubeconfig", config)
        for command in ("approve", "reject")
    ]
    spec = {"decision": "Approve", "decidedBy": f"system:serviceaccount:{namespace}:{role}"}
    patch = ("patch", "bappr", NAME, "-n", namespace, "--type", "merge")
    patched = tools.run("kubectl", "--kubeconfig", config, *patch, "-p", json.dumps({"spec": spec}))

    told = [(answer.code, answer.json["error"]["reason"]) for answer in decided]
    assert told == [(1, "Forbidden"), (1, "Forbidden")]
    assert patched.returncode != 0
    assert "forbidden" in patched.stderr.lower()
    assert "decision" not in (await admin.get(APPROVALS, NAME, namespace))["spec"]


async def test_a_viewer_sees_what_waits_and_changes_nothing(
    bernstein: Bernstein,
    tools: Tools,
    person: Person,
    kubeconfig_of: KubeconfigOf,
    admin: Client,
    operator: Client,
    namespace: str,
) -> None:
    await admin.create(PROJECTS, valid("Project", namespace, "default"))
    before = await waits(admin, operator, namespace)
    await person("view")
    config = kubeconfig_of("view")

    seen = await bernstein("--json", "pending", "--kubeconfig", config)
    refused = [
        await bernstein("--json", *call, "--kubeconfig", config)
        for call in (("cancel", "one"), ("verify", "one"), ("retry", "one"), ("add-task", "x"))
    ]
    cancel = json.dumps({"spec": {"cancel": {"reason": "no"}}})
    patch = ("patch", "btask", "one", "-n", namespace, "--type", "merge", "-p", cancel)
    patched = tools.run("kubectl", "--kubeconfig", config, *patch)

    assert [each["id"] for each in seen.json] == [NAME]
    told = [(answer.code, answer.json["error"]["reason"]) for answer in refused]
    assert told == [(1, "Forbidden")] * 4
    assert patched.returncode != 0
    assert "forbidden" in patched.stderr.lower()
    assert (await admin.get(TASKS, "one", namespace))["spec"] == before["spec"]
