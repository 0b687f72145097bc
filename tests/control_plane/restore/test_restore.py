"""What comes of objects that a backup tool makes anew: other uids, no owners, no status."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, Invalid
from bernstein.kube.resource import PODS, SECRETS, Object, Resource
from tests.control_plane.conftest import Account, Tools, eventually, may
from tests.control_plane.controllers.conftest import MakeWorld, make_world, node
from tests.control_plane.controllers.crash.stories import is_open, on_forge
from tests.control_plane.controllers.kubelet import run
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import QUIET, World, condition, stage
from tests.control_plane.objects import AGENT_SESSIONS, APPROVALS, PLANS, PROJECTS, TASKS
from tests.control_plane.restore.backups import (
    MADE_BY_US,
    Backup,
    back_up,
    restore,
    rules_of_the_page,
)

__all__ = ["make_world", "node"]

Velero = Callable[[World], Awaitable[Client]]
CREDENTIALS = ("git-read", "git-work", "git-deliver")


@pytest.fixture
async def velero(tools: Tools, account: Account) -> AsyncIterator[Velero]:
    """World -> Client of an account that may do anything there, and is nobody else's."""
    async with contextlib.AsyncExitStack() as clients:

        async def made(world: World) -> Client:
            name, namespace = "velero", world.namespace
            tools.kubectl("create", "serviceaccount", name, "-n", namespace)
            tools.kubectl(
                *("create", "rolebinding", name, "-n", namespace, "--clusterrole=cluster-admin"),
                f"--serviceaccount={namespace}:{name}",
            )
            client = await clients.enter_async_context(Client(account(namespace, name)))
            await eventually(lambda: may(client, "create", "plans.bernstein.dev", namespace))
            return client

        yield made


async def lived_in(world: World, user: str) -> Backup:
    """A Plan and a Task that have ended well, a Plan with one step at work, and one of which
    somebody has just approved a step; with all that belongs to them."""
    for name in CREDENTIALS:
        await world.admin.create(SECRETS, secret(world.namespace, name))
    await world.project(gates=QUIET)
    world.kubelet.on("half-ship-*", run)
    replica = await world.start()
    await world.plan("done", [stage("build", "page")])
    await world.plan("half", [stage("build", "page"), stage("ship", "image", dependsOn=["build"])])
    await world.plan("asks", [stage("build", "page")], approval={"result": "Always"})
    await world.task("alone")
    await world.until(PLANS, "done", lambda p: p["status"]["phase"] == "Succeeded")
    await world.task_in("alone", "Closed")
    await world.task_in("half-build-page", "Closed")
    await world.task_in("half-ship-image", "InProgress")
    asks = await world.task_in("asks-build-page", "PendingApproval")
    await replica.stop()
    approval = asks["status"]["approval"]["name"]
    await world.change(APPROVALS, approval, decision="Approve", decidedBy=user)
    found = await back_up(world)
    assert {resource for resource, _ in found.objects} >= {*MADE_BY_US, SECRETS}
    return found


def secret(namespace: str, name: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "stringData": {"token": "x"}}


async def test_with_the_rules_of_the_page_nothing_runs_until_it_is_resumed(
    make_world: MakeWorld, velero: Velero, user: str
) -> None:
    before, after = await make_world(), await make_world()
    backup = await lived_in(before, user)
    remote = after.kubelet.remote = before.kubelet.remote
    refs = dict(remote.refs)

    told = await restore(backup, await velero(after), after.namespace, rules_of_the_page())

    theirs = backup.names(PROJECTS, SECRETS, PLANS) | {"Task/alone"}
    assert told.made == theirs
    assert told.refused == backup.names(*MADE_BY_US) - theirs

    await after.start()
    for plan in ("done", "half", "asks"):
        await after.until(PLANS, plan, lambda p: p["status"]["phase"] == "Suspended")
    await after.task_in("alone", "Cancelled")
    await after.until(PROJECTS, "default", lambda p: condition(p, "Ready")["status"] == "True")
    assert await after.sessions() == []

    await after.change(PLANS, "half", suspend=False)
    await after.until(PLANS, "half", lambda p: p["status"]["phase"] == "Succeeded")
    assert await after.sessions() == ["half-build-page-s1", "half-ship-image-s1"]
    for plan in ("done", "asks"):
        assert (await after.get(PLANS, plan))["status"]["phase"] == "Suspended"
    # What had landed is still there, and refs of the Plan that was lost are as they were.
    assert refs[MAIN] in remote.commits(MAIN)[1:]
    assert {ref: remote.refs[ref] for ref in refs if ref != MAIN} == {
        ref: at for ref, at in refs.items() if ref != MAIN
    }


async def test_a_pull_request_of_a_lost_plan_is_left_alone(
    make_world: MakeWorld, velero: Velero
) -> None:
    before, after = await make_world(), await make_world()
    remote = after.kubelet.remote = before.kubelet.remote
    await on_forge(before)
    replica = await before.start()
    await before.plan("shop", [stage("a", "one")])
    await before.until(PLANS, "shop", is_open)
    await replica.stop()
    backup = await back_up(before)
    await restore(backup, await velero(after), after.namespace, rules_of_the_page())
    (lost,) = remote.pulls
    tip = remote.refs[f"refs/heads/{lost.head}"]

    await after.start()
    await after.change(PLANS, "shop", suspend=False)
    await after.until(PLANS, "shop", is_open)
    await after.change(PLANS, "shop", cancel={"reason": "not needed"})
    await after.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Cancelled")

    assert [pull.state for pull in remote.pulls] == ["Open", "Closed"]
    assert remote.refs[f"refs/heads/{lost.head}"] == tip


async def test_without_rules_what_had_ended_is_done_again(
    make_world: MakeWorld, velero: Velero, user: str
) -> None:
    """That is why the page has some."""
    before, after = await make_world(), await make_world()
    backup = await lived_in(before, user)
    await restore(backup, await velero(after), after.namespace, {})

    await after.start()

    await asyncio.gather(
        *(
            after.until(PLANS, plan, lambda p: p["status"]["phase"] == "Succeeded")
            for plan in ("done", "half")
        ),
        after.task_in("alone", "Closed"),
    )
    assert set(await after.sessions()) >= {"done-build-page-s1", "alone-s1"}


@pytest.mark.parametrize("kind", [PLANS, TASKS], ids=lambda kind: kind.kind)
async def test_without_rules_what_somebody_has_signed_is_refused(
    make_world: MakeWorld, velero: Velero, user: str, kind: Resource
) -> None:
    """As `bernstein run`, `retry` and `cancel` do: an account of a backup is nobody's name."""
    before, after = await make_world(), await make_world()
    request = {"id": "one", "verb": "Retry", "by": user, "reason": "once more"}
    signatures: dict[str, Object] = {
        "run": {"author": user},
        "retried": {"requests": [request]},
        "cancelled": {"cancel": {"by": user}},
    }
    for name, signed in signatures.items():
        if kind is PLANS:
            await before.plan(name, [stage("build", "page")], **signed)
        else:
            await before.task(name, **signed)
    backup = await back_up(before)
    by = await velero(after)

    names = backup.names(kind)
    assert len(names) == 3
    assert (await restore(backup, by, after.namespace, {})).refused == names
    assert (await restore(backup, by, after.namespace, rules_of_the_page())).made == names


async def test_nobody_restores_a_status(make_world: MakeWorld, velero: Velero, user: str) -> None:
    before, after = await make_world(), await make_world()
    backup = await lived_in(before, user)
    by = await velero(after)
    told = await restore(backup, by, after.namespace, rules_of_the_page())

    for resource, name in ((PROJECTS, "default"), (PLANS, "done"), (PLANS, "half")):
        assert f"{resource.kind}/{name}" in told.made
        with pytest.raises(Forbidden, match="bernstein-status"):
            await put_status(by, after, resource, backup.get(resource, name))


async def put_status(by: Client, world: World, resource: Resource, obj: Object) -> None:
    """As Velero does with --restore-status, once the object is made."""
    change = {"status": obj["status"]}
    name = obj["metadata"]["name"]
    await by.patch(resource, name, world.namespace, change, subresource="status")


async def test_a_status_that_comes_back_all_the_same_starts_nothing(
    make_world: MakeWorld, user: str
) -> None:
    """As where the policies were off: the operator's own account plays whoever restores."""
    before, after = await make_world(), await make_world()
    backup = await lived_in(before, user)
    await restore(backup.of(PROJECTS, PLANS), after.admin, after.namespace, {})
    for resource, obj in backup.of(PLANS).objects:
        await put_status(after.as_operator, after, resource, obj)

    await after.start()

    for plan in ("half", "asks"):
        await after.until(PLANS, plan, lambda p: condition(p, "Stalled")["status"] == "True")
    assert (await after.get(PLANS, "done"))["status"]["phase"] == "Succeeded"
    assert await after.sessions() == []
    assert await after.all(TASKS) == {}


async def test_the_status_of_a_task_that_had_ended_is_taken_from_nobody(
    make_world: MakeWorld, user: str
) -> None:
    before, after = await make_world(), await make_world()
    backup = await lived_in(before, user)
    task = backup.get(TASKS, "alone")
    await restore(Backup(((TASKS, task),)), after.admin, after.namespace, {})

    with pytest.raises(Invalid, match="IllegalTransition"):
        await put_status(after.as_operator, after, TASKS, task)


async def test_what_comes_back_of_ours_where_the_policies_are_off_is_nobodys(
    make_world: MakeWorld, user: str
) -> None:
    """The operator's own account plays whoever restores, but for pods, which it may not make."""
    before, after = await make_world(), await make_world()
    backup = await lived_in(before, user)
    remote = after.kubelet.remote = before.kubelet.remote
    tip = remote.refs[MAIN]
    theirs, rules = backup.of(PROJECTS, SECRETS, PLANS), rules_of_the_page()
    await restore(theirs, after.admin, after.namespace, rules)
    told = await restore(backup.of(*MADE_BY_US), after.as_operator, after.namespace, rules)
    assert told.refused == backup.names(PODS, APPROVALS) | {"Task/alone"}

    await after.start()
    for task in backup.names(TASKS) - {"Task/alone"}:
        await after.task_in(task.removeprefix("Task/"), "Cancelled")
    for session in backup.names(AGENT_SESSIONS):
        ended = await after.until(
            AGENT_SESSIONS,
            session.removeprefix("AgentSession/"),
            lambda s: s["status"]["state"] == "Dead",
        )
        assert ended["status"]["outcome"]["started"] is False
    await after.change(PLANS, "half", suspend=False)

    plan = await after.stalled(PLANS, "half", "ProjectNotReady")
    assert "NetworkPolicy" in condition(plan, "Stalled")["message"]
    for session in await after.sessions():
        await after.delete(AGENT_SESSIONS, session)
    await after.none_left(AGENT_SESSIONS)
    assert remote.refs[MAIN] == tip
