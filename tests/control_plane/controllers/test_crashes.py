"""After any write the operator may die, and the next one finishes the same story."""

from __future__ import annotations

import asyncio

from bernstein.kube.resource import CONFIG_MAPS, JOBS
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.mortal import Life, after_each_write, deaf, mortal, over_or
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, condition, stage
from tests.control_plane.objects import PLANS, TASKS


async def test_whatever_write_was_the_last_the_story_ends_the_same(make_world: MakeWorld) -> None:
    async def tell(life: Life) -> None:
        await _tell(await make_world(), life)

    await after_each_write(tell, more_than=20, most=8)


async def _tell(world: World, life: Life) -> None:
    """A Plan of one step, from its application to the merge; the engine dies on the way."""
    await world.project(gates={"enabled": False})
    first = await world.start(client=mortal(life))
    await world.plan("shop", [stage("a", "one")])
    done = asyncio.create_task(_succeeded(world))
    if await over_or(done, life):
        await first.kill()
        await world.start(lease="second")
    await done
    await _told_once(world)


async def _succeeded(world: World) -> None:
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    await world.let_go(world.kubelet.pods["shop-a-one-s1"].name)


async def _told_once(world: World) -> None:
    task = await world.get(TASKS, "shop-a-one")
    assert set(await world.all(TASKS)) == {"shop-a-one"}
    assert await world.sessions() == ["shop-a-one-s1"]
    assert world.kubelet.ran == [
        "shop-begin-0",
        "shop-a-one-s1",
        "shop-a-one-s1-land-1",
        "shop-land-1",
    ]
    assert set(await world.all(JOBS)) == set(world.kubelet.ran)
    assert "shop-a-one-s1-prompt" in await world.all(CONFIG_MAPS)
    plan = await world.get(PLANS, "shop")
    sha = task["status"]["delivery"]["sha"]
    integration = plan["status"]["integration"]["ref"]
    assert world.kubelet.remote.landed == [(integration, sha), (MAIN, sha)]
    states = [move["toState"] for move in task["status"]["history"]]
    assert states == ["Open", "Claimed", "InProgress", "Done", "Closed"]
    assert [a["counted"] for a in task["status"]["attempts"]] == [True]
    assert condition(plan, "Succeeded")["status"] == "True"


async def test_lost_answers_change_nothing(world: World) -> None:
    """Every write takes effect and is not heard of: it is looked at, and not done twice."""
    await world.start(client=deaf(set()))
    await world.plan("shop", [stage("a", "one")])
    await _succeeded(world)
    await _told_once(world)
