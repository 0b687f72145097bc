"""Refs that nobody needs any more are deleted, whenever the operator dies, and no others."""

from __future__ import annotations

import asyncio

from bernstein.kube.resource import JOBS, Object
from tests.background import eventually
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import Pod, exited, run
from tests.control_plane.controllers.mortal import (
    Life,
    after_each_write,
    mortal,
    over_or,
    unless_over,
)
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import PATIENCE, QUIET, World, condition, stage
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, PROJECTS, TASKS

NEVER, SOON, LATER = {"refsSeconds": 0}, {"refsSeconds": 1}, {"refsSeconds": 86400}


def ours(world: World) -> set[str]:
    return {ref for ref in world.kubelet.remote.refs if ref.startswith("refs/bernstein/")}


async def none_is_left(world: World) -> None:
    await eventually(lambda: not ours(world), seconds=PATIENCE)


async def succeeded(world: World, **retention: int) -> None:
    """A Plan has succeeded, and its refs are there."""
    await world.project(gates=QUIET, retention=retention)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")


async def test_whenever_the_operator_dies_all_refs_of_a_finished_plan_go_once(
    make_world: MakeWorld,
) -> None:
    async def tell(life: Life) -> None:
        world = await make_world()
        first = await world.start()
        await succeeded(world, **NEVER)
        await world.let_go(world.kubelet.pods["shop-a-one-s1"].name)
        assert len(ours(world)) == 2
        await first.kill()
        await world.project(gates=QUIET, retention=SOON)
        again = await world.start(client=mortal(life), lease="second")
        done = asyncio.create_task(_gone_and_told(world))
        if await over_or(done, life):
            await again.kill()
            await world.start(lease="third")
        await done
        assert world.kubelet.remote.landed[-1][0] == MAIN
        assert MAIN in world.kubelet.remote.refs

    await after_each_write(tell, more_than=2, most=6)


async def _gone_and_told(world: World) -> None:
    await none_is_left(world)
    project = await world.until(PROJECTS, "default", lambda p: not _known(p).get("batch", ["?"]))
    assert (_known(project)["deleted"], _known(project).get("left", 0)) == (2, 0)


def _known(project: Object) -> Object:
    known: Object
    (known,) = project["status"].get("refs") or [{}]
    return known


async def test_whenever_the_operator_dies_what_sessions_of_a_deleted_plan_pushed_goes(
    make_world: MakeWorld,
) -> None:
    async def tell(life: Life) -> None:
        world = await make_world()
        first = await world.start()
        await succeeded(world, **LATER)
        await world.let_go(world.kubelet.pods["shop-a-one-s1"].name)
        await first.kill()
        again = await world.start(client=mortal(life), lease="second")
        await unless_over(again.reconciled(project=1), life)
        await world.delete(PLANS, "shop")
        done = asyncio.create_task(world.none_left(AGENT_SESSIONS))
        if await over_or(done, life):
            await again.kill()
            await world.start(lease="third")
        await done
        # What a Plan itself had is lost where its deletion was seen by nobody who lived to tell.
        pushed = {ref for ref in ours(world) if ref.endswith("/s1")}
        waits = {row["ref"] for row in await _waiting(world)}
        assert pushed <= waits | {row["ref"] for row in await _batch(world)}

    await after_each_write(tell, more_than=1, most=5)


async def _waiting(world: World) -> list[Object]:
    return list(_known(await world.get(PROJECTS, "default")).get("waiting", ()))


async def _batch(world: World) -> list[Object]:
    return list(_known(await world.get(PROJECTS, "default")).get("batch", ()))


async def test_a_deleted_plan_that_has_landed_leaves_nothing(world: World) -> None:
    await world.start()
    await succeeded(world, **LATER)
    assert len(ours(world)) == 2

    await world.delete(PLANS, "shop")

    await none_is_left(world)
    await world.none_left(AGENT_SESSIONS)


async def test_a_deleted_task_whose_work_has_not_landed_leaves_it_for_its_time(
    world: World,
) -> None:
    await world.start()
    await world.project(gates=QUIET, retention=LATER)
    world.kubelet.on("one-s1-land-*", run)
    await world.task("one")
    await world.until(JOBS, "one-s1-land-1", lambda _: True)
    (left,) = ours(world)

    await world.delete(TASKS, "one")

    await world.none_left(AGENT_SESSIONS)
    (row,) = await _waiting(world)
    assert row["ref"] == left
    assert ours(world) == {left}
    # Who wants them gone says so.
    await world.project(gates=QUIET, retention=NEVER)
    await world.until(PROJECTS, "default", lambda p: not p["status"].get("refs"))


async def test_a_ref_that_was_moved_stays_and_a_server_that_refuses_is_told(world: World) -> None:
    refused = exited(1, '{"reason":"CredentialRefused","message":"it may not push"}')

    async def may_not(pod: Pod) -> None:
        await pod.start()
        await pod.end("Failed", {"prune": refused})

    world.kubelet.on("prune", may_not)
    await world.start()
    await succeeded(world, **NEVER)
    moved = next(ref for ref in ours(world) if ref.endswith("/s1"))
    world.kubelet.remote.refs[moved] = "0" * 40
    await world.project(gates=QUIET, retention=SOON)

    project = await world.until(PROJECTS, "default", lambda p: _known(p).get("reason"))

    told = condition(project, "RefsNotDeleted")
    assert (told["status"], told["reason"]) == ("True", "CredentialRefused")
    assert "Remedy:" in told["message"]
    assert len(ours(world)) == 2
