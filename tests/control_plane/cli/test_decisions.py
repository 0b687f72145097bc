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
from tests.control_plane.cli.scenes import PLAN, condition, now, set_status
from tests.control_plane.conftest import Person, Tools, eventually
from tests.control_plane.objects import APPROVALS, KINDS, PLANS, PROJECTS, TASKS, valid

NAME = "one-approval-1"
SHA = "a" * 40
DECIDE = ("approve", "reject")


def asks() -> Object:
    asked: Object = valid("Approval", "")["spec"]["asks"]
    return asked


def record(**more: Any) -> Object:
    return {"name": NAME, "asks": asks(), "because": ["why"], "since": now()} | more


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


async def acted(
    admin: Client, operator: Client, namespace: str, state: str, name: str = NAME
) -> Object:
    """What the operator writes once somebody has decided."""
    found: list[Object] = []

    async def there() -> bool:
        approval = await admin.get(APPROVALS, name, namespace)
        found[:] = [approval["spec"]] if "decision" in approval["spec"] else []
        return bool(found)

    await eventually(there)
    (spec,) = found
    done = {"decision": spec["decision"], "by": spec["decidedBy"], "time": now()}
    done = record(name=name, asks=spec["asks"]) | done
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


async def test_a_decision_about_what_was_seen_is_not_written_onto_the_next_question(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str, user: str
) -> None:
    await waits(admin, operator, namespace)
    call = ("reject", "one", "--retry", "--reason", "not this", "--json")
    await asyncio.gather(bernstein(*call), acted(admin, operator, namespace, "Failed"))
    await operator.patch(
        *(APPROVALS, NAME, namespace),
        {"status": {"state": "Rejected", "endedAt": now()}},
        subresource="status",
    )
    task = await admin.get(TASKS, "one", namespace)
    for state in ("Open", "Claimed", "InProgress"):
        task = await set_status(operator, task, state=state, attempt=2)
    between = [await bernstein(*call), await bernstein("approve", "one", "--json")]

    await asks_next(admin, operator, namespace)
    about = ("--approval", NAME)
    unnamed = await bernstein(*call)
    again = await bernstein(*call, *about)
    by_commit = await bernstein(*call, "--sha", asks()["sha"][:7])
    other = await bernstein("approve", "one", "--json", *about)
    changed = await bernstein("approve", "one", "--json", "--approval", "next", "--sha", SHA[:12])
    untouched = (await admin.get(APPROVALS, "next", namespace))["spec"]
    decided, spec = await asyncio.gather(
        bernstein("approve", "one", "--approval", "next", "--sha", "b" * 7),
        acted(admin, operator, namespace, "Done", "next"),
    )

    assert [answer.code for answer in (between[0], again, by_commit)] == [0, 0, 0]
    answers = (between[1], unnamed, other, changed)
    refused = [answer.json["error"]["reason"] for answer in answers]
    assert refused == ["NothingToDecide", "WorkChanged", "DecidedAlready", "WorkChanged"]
    assert "--approval next" in unnamed.json["error"]["remedy"]
    assert "decision" not in untouched
    assert (decided.code, spec["decision"], spec["decidedBy"]) == (0, "Approve", user)


async def asks_next(admin: Client, operator: Client, namespace: str) -> None:
    """The next attempt of the Task waits for a decision, too."""
    asked = asks() | {"attempt": 2, "sha": "b" * 40}
    task = await admin.get(TASKS, "one", namespace)
    for state in ("Done", "PendingApproval"):
        approval = record(name="next", asks=asked, decision=None, by=None, time=None)
        task = await set_status(operator, task, state=state, approval=approval)
    about = {"kind": "Task", "name": "one", "uid": task["metadata"]["uid"]}
    await operator.create(
        APPROVALS, valid("Approval", namespace, "next", subject=about, asks=asked)
    )


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


CANCEL: Object = {"cancel": {"reason": "no"}}
DELIVER = {"id": "r-1", "verb": "DeliverPartial", "by": "view", "reason": "it is enough"}
CHANGES: dict[str, Object] = {
    "btask/one": CANCEL,
    "bplan/asks": CANCEL,
    "bplan/rests": {"requests": [DELIVER]},
    "bproj/default": {"gates": {"allowBypass": True}},
    f"bappr/{NAME}": {"decision": "Approve", "decidedBy": "view"},
}
WITH_KUBECTL = [
    call
    for what, spec in CHANGES.items()
    for call in (
        ("patch", what, "--type", "merge", "-p", json.dumps({"spec": spec})),
        ("delete", what),
    )
]


async def test_a_viewer_sees_what_waits_and_changes_nothing(
    bernstein: Bernstein,
    tools: Tools,
    person: Person,
    kubeconfig_of: KubeconfigOf,
    admin: Client,
    operator: Client,
    namespace: str,
    plan_file: str,
    tmp_path: Path,
) -> None:
    await project_is_ready(admin, operator, namespace)
    await waits(admin, operator, namespace)
    await plans_wait(admin, operator, namespace)
    before = await everything(admin, namespace)
    await person("view")
    config = kubeconfig_of("view")

    seen = await bernstein("--json", "pending", "--kubeconfig", config)
    calls = (
        *(
            ("cancel", "one"),
            ("verify", "one"),
            ("retry", "one"),
            ("unblock", "one", "-r", "go on"),
        ),
        *(
            ("approve", "one"),
            ("reject", "one"),
            ("add-task", "x"),
            ("run", plan_file, "--no-wait"),
        ),
        *(("approve", "plan/asks"), ("reject", "plan/asks"), ("cancel", "plan/asks")),
        *(("stop",), ("stop", "--force"), ("suspend", "asks"), ("resume", "rests")),
        *(("start", "--all"), ("deliver", "over", "--partial", "--yes")),
    )
    refused = {call: await bernstein("--json", *call, "--kubeconfig", config) for call in calls}
    merged = await bernstein("--json", "merge", "one", "--kubeconfig", config)
    made = tmp_path / "task.json"
    made.write_text(json.dumps(valid("Task", namespace, "made")))
    with_kubectl = [
        tools.run("kubectl", "--kubeconfig", config, "-n", namespace, *call)
        for call in (*WITH_KUBECTL, ("create", "-f", str(made)))
    ]

    assert {each["id"] for each in seen.json} == {NAME, "asks-approval-1"}
    for call, answer in refused.items():
        error = answer.json["error"]
        assert (answer.code, error["reason"]) == (1, "Forbidden"), call
        assert error["message"].startswith("you may not "), call
        role = "the chart's role whose " if call[0] in DECIDE else "a Role that allows "
        assert error["remedy"].startswith(f"ask for {role}"), call
    # Whoever may only look waits for merges as well: what is asked for is left to others.
    ended = [(each["id"], each["reason"]) for each in merged.json["failed"]]
    assert (merged.code, ended) == (1, [("one", "ApprovalPending")])
    for done in with_kubectl:
        assert done.returncode != 0, done.args
        assert "forbidden" in done.stderr.lower(), done.args
    assert await everything(admin, namespace) == before


async def project_is_ready(admin: Client, operator: Client, namespace: str) -> None:
    project = await admin.create(PROJECTS, valid("Project", namespace, "default"))
    told = {"conditions": [condition("Ready", "True", "Ready")]}
    generation = {"observedGeneration": project["metadata"]["generation"]}
    status = {"status": told | generation}
    await operator.patch(PROJECTS, "default", namespace, status, subresource="status")


async def plans_wait(admin: Client, operator: Client, namespace: str) -> None:
    """A Plan that a person decides about, one that is suspended, and one that a part is left of."""
    await admin.create(PLANS, valid("Plan", namespace, "over"))
    plan = await admin.create(PLANS, valid("Plan", namespace, "asks"))
    await admin.create(PLANS, valid("Plan", namespace, "rests", suspend=True))
    about = {"kind": "Plan", "name": "asks", "uid": plan["metadata"]["uid"]}
    asks = {"digest": "d" * 64}
    await set_status(operator, plan, approval=record(name="asks-approval-1", asks=asks))
    approval = valid("Approval", namespace, "asks-approval-1", subject=about, asks=asks)
    await operator.create(APPROVALS, approval)


async def everything(admin: Client, namespace: str) -> dict[tuple[str, str], Object]:
    """The specs of all objects of ours, by kind and name."""
    return {
        (kind, item["metadata"]["name"]): item["spec"]
        for kind, resource in KINDS.items()
        for item in (await admin.list(resource, namespace)).items
    }
