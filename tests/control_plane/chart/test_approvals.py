"""Who asks, who decides, and in whose name: the chart's policies and roles."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, Invalid, NotFound
from bernstein.kube.resource import CONFIG_MAPS
from tests.control_plane.conftest import RELEASE_NAMESPACE, Person, Tools, eventually, may
from tests.control_plane.objects import APPROVALS, KINDS, OURS, PLANS, TASKS, valid

BOTH = pytest.mark.parametrize("kind", ["Plan", "Task"])


def account(namespace: str, role: str) -> str:
    return f"system:serviceaccount:{namespace}:{role}"


def yes(by: str) -> dict[str, dict[str, str]]:
    return {"spec": {"decision": "Approve", "decidedBy": by}}


async def asked(operator: Client, namespace: str) -> None:
    await operator.create(APPROVALS, valid("Approval", namespace))


async def test_nobody_but_the_operator_makes_one_and_never_decided(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    with pytest.raises(Forbidden, match=r"bernstein-approvals.*operator only"):
        await admin.create(APPROVALS, valid("Approval", namespace))
    own = "system:serviceaccount:bernstein-system:bernstein-operator"
    for by in (own, user):
        decided = valid("Approval", namespace, **yes(by)["spec"])
        with pytest.raises(Forbidden, match=r"bernstein-approvals"):
            await operator.create(APPROVALS, decided)


async def test_who_may_create_them_by_another_role_makes_none_all_the_same(
    tools: Tools, person: Person, namespace: str
) -> None:
    editor = await person("edit")
    may_create = ("--verb=create", "--resource=approvals.bernstein.dev")
    tools.kubectl("create", "role", "asker", "-n", namespace, *may_create)
    bound = ("--role=asker", f"--serviceaccount={namespace}:edit")
    tools.kubectl("create", "rolebinding", "asker", "-n", namespace, *bound)
    await eventually(lambda: may(editor, "create", "approvals.bernstein.dev", namespace))

    for spec in ({}, yes(account(namespace, "edit"))["spec"]):
        with pytest.raises(Forbidden, match=r"bernstein-approvals.*operator only"):
            await editor.create(APPROVALS, valid("Approval", namespace, **spec))


async def test_one_decides_in_ones_own_name_only(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    await asked(operator, namespace)

    with pytest.raises(Forbidden, match=r"bernstein-approvals.*must be the name of who decides"):
        await admin.patch(APPROVALS, "one", namespace, yes("somebody-else"))
    await admin.patch(APPROVALS, "one", namespace, yes(user))


@pytest.mark.parametrize("role", ["view", "edit", "admin"])
async def test_no_role_of_the_cluster_decides(
    operator: Client, person: Person, namespace: str, role: str
) -> None:
    await asked(operator, namespace)
    somebody = await person(role)

    assert await may(somebody, "list", "approvals.bernstein.dev", namespace)
    with pytest.raises(Forbidden):
        await somebody.patch(APPROVALS, "one", namespace, yes(account(namespace, role)))
    with pytest.raises(Forbidden):
        await somebody.delete(APPROVALS, "one", namespace, propagation="Background")


async def test_an_approver_decides_and_edits_nothing_else(
    tools: Tools, operator: Client, person: Person, namespace: str
) -> None:
    await asked(operator, namespace)
    tools.kubectl(
        *("create", "rolebinding", "approver", "-n", namespace),
        *("--clusterrole=bernstein-approver", f"--serviceaccount={namespace}:view"),
    )
    approver = await person("view")

    await approver.patch(APPROVALS, "one", namespace, yes(account(namespace, "view")))
    for what in ("plans.bernstein.dev", "tasks.bernstein.dev", "projects.bernstein.dev"):
        assert not await may(approver, "update", what, namespace)
    assert not await may(approver, "create", "approvals.bernstein.dev", namespace)


@pytest.mark.parametrize(
    ("ours", "policy"),
    [
        ("operator", "bernstein-(approvals|operator).*(own accounts decide|writes no objects)"),
        ("server", "bernstein-approvals.*own accounts decide nothing"),
    ],
)
async def test_our_own_accounts_decide_nothing_whatever_rights_they_are_given(
    tools: Tools, operator: Client, server: Client, namespace: str, ours: str, policy: str
) -> None:
    account_of = {"operator": operator, "server": server}[ours]
    await asked(operator, namespace)
    tools.kubectl(
        *("create", "rolebinding", "approver", "-n", namespace, "--clusterrole=bernstein-approver"),
        f"--serviceaccount={RELEASE_NAMESPACE}:bernstein-{ours}",
    )
    await eventually(lambda: may(account_of, "patch", "approvals.bernstein.dev", namespace))
    decision = yes(account(RELEASE_NAMESPACE, f"bernstein-{ours}"))

    with pytest.raises(Forbidden, match=policy):
        await account_of.patch(APPROVALS, "one", namespace, decision)


async def test_what_is_asked_and_about_whom_stays(
    admin: Client, operator: Client, namespace: str
) -> None:
    names = {"name": "owner", "namespace": namespace}
    other = await admin.create(CONFIG_MAPS, {"metadata": names})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner"}
    owner["uid"] = other["metadata"]["uid"]
    approval = valid("Approval", namespace)
    approval["metadata"]["ownerReferences"] = [owner]
    await operator.create(APPROVALS, approval)

    second = owner | {"name": "second", "uid": "0"}
    for mark in (
        {"labels": dict.fromkeys(OURS)},
        {"labels": {"bernstein.dev/plan": "mine"}},
        {"ownerReferences": None},
        {"ownerReferences": [owner, second]},
    ):
        with pytest.raises(Forbidden, match=r"bernstein-approvals.*changed by nobody"):
            await admin.patch(APPROVALS, "one", namespace, {"metadata": mark})
    for field, part in (("subject", {"name": "another"}), ("asks", {"digest": "e" * 64})):
        with pytest.raises(Invalid, match="the field is immutable"):
            await admin.patch(APPROVALS, "one", namespace, {"spec": {field: part}})


async def test_a_decision_stays_until_it_is_acted_upon(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    await asked(operator, namespace)
    await admin.patch(APPROVALS, "one", namespace, yes(user))

    with pytest.raises(Forbidden, match="stays until it is acted upon"):
        await admin.delete(APPROVALS, "one", namespace, propagation="Background")
    done = {"status": {"state": "Approved"}}
    await operator.patch(APPROVALS, "one", namespace, done, subresource="status")
    await admin.delete(APPROVALS, "one", namespace, propagation="Background")


async def test_one_that_nobody_has_decided_may_be_deleted(
    admin: Client, operator: Client, namespace: str
) -> None:
    await asked(operator, namespace)

    await admin.delete(APPROVALS, "one", namespace, propagation="Background")

    with pytest.raises(NotFound):
        await admin.get(APPROVALS, "one", namespace)


@BOTH
async def test_an_author_writes_his_own_name_only(
    admin: Client, person: Person, namespace: str, kind: str
) -> None:
    editor, name = await person("edit"), account(namespace, "edit")

    with pytest.raises(Forbidden, match=r"bernstein-authors.*must be the name of who makes it"):
        await editor.create(KINDS[kind], valid(kind, namespace, author="somebody-else"))
    await editor.create(KINDS[kind], valid(kind, namespace, author=name))
    # What stands already is no matter of who writes something else.
    await admin.patch(KINDS[kind], "one", namespace, {"metadata": {"labels": {"a": "b"}}})


@BOTH
async def test_who_stands_for_work_without_an_author_writes_his_own_name_once(
    admin: Client, person: Person, namespace: str, user: str, kind: str
) -> None:
    editor, name = await person("edit"), account(namespace, "edit")
    await admin.create(KINDS[kind], valid(kind, namespace))

    with pytest.raises(Forbidden, match=r"bernstein-authors.*must be the name of who makes it"):
        await editor.patch(KINDS[kind], "one", namespace, {"spec": {"author": user}})
    await editor.patch(KINDS[kind], "one", namespace, {"spec": {"author": name}})

    for other in (user, None):
        with pytest.raises(Invalid, match="the field is written once"):
            await admin.patch(KINDS[kind], "one", namespace, {"spec": {"author": other}})


async def test_a_plan_that_a_task_has_produced_has_the_author_of_the_task(
    operator: Client, namespace: str, user: str
) -> None:
    asks = {"approval": {"plan": "Always"}}
    for kind in ("Plan", "Task"):
        made = valid(kind, namespace, author=user, **(asks if kind == "Plan" else {}))
        made["metadata"]["labels"] = OURS
        if kind == "Plan":
            await operator.create(PLANS, made)
        else:
            with pytest.raises(Forbidden, match=r"bernstein-authors.*who makes it"):
                await operator.create(TASKS, made)


async def test_a_task_of_a_plan_has_no_author_of_its_own(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    plan = await admin.create(PLANS, valid("Plan", namespace))
    owner = {"apiVersion": "bernstein.dev/v1alpha1", "kind": "Plan", "name": "one"}
    theirs = valid("Task", namespace)
    theirs["metadata"] |= {
        "labels": {**OURS, "bernstein.dev/plan": "one"},
        "ownerReferences": [owner | {"uid": plan["metadata"]["uid"], "controller": True}],
    }
    await operator.create(TASKS, theirs)

    with pytest.raises(Forbidden, match=r"bernstein-tasks.*has the author of its Plan"):
        await admin.patch(TASKS, "one", namespace, {"spec": {"author": user}})


@pytest.mark.parametrize(
    "other",
    [{"description": "something else"}, {"fileScope": "Warn"}, {"protectTests": True}],
    ids=["description", "fileScope", "protectTests"],
)
async def test_who_corrects_a_plan_that_never_ran_is_its_author(
    admin: Client,
    operator: Client,
    person: Person,
    namespace: str,
    user: str,
    other: dict[str, Any],
) -> None:
    editor, name = await person("edit"), account(namespace, "edit")
    await editor.create(PLANS, valid("Plan", namespace, author=name))
    invalid = {"status": {"phase": "Invalid", "observedGeneration": 1}}
    await operator.patch(PLANS, "one", namespace, invalid, subresource="status")

    with pytest.raises(Forbidden, match=r"bernstein-authors.*who changes the work of a Plan"):
        await admin.patch(PLANS, "one", namespace, {"spec": other})
    await admin.patch(PLANS, "one", namespace, {"spec": {"suspend": True}})
    corrected = await admin.patch(PLANS, "one", namespace, {"spec": {**other, "author": user}})

    assert corrected["spec"]["author"] == user
