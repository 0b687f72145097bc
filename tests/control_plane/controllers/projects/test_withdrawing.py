"""The pull request of what is deleted is closed, and no deletion waits for that."""

from __future__ import annotations

import asyncio

from bernstein.kube.resource import JOBS, Object
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.crash.stories import is_open, on_forge
from tests.control_plane.controllers.kubelet import Pod, exited
from tests.control_plane.controllers.mortal import (
    Life,
    after_each_write,
    mortal,
    over_or,
    unless_over,
)
from tests.control_plane.controllers.world import World, condition, stage
from tests.control_plane.objects import PLANS, PROJECTS

REFUSED = exited(1, '{"reason":"ForgeRefused","message":"the token was revoked"}')


async def opened(world: World) -> None:
    """A Plan waits for people to merge its pull request."""
    await on_forge(world)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", is_open)


def known(project: Object) -> Object:
    found: Object
    (found,) = project["status"].get("closing") or [{}]
    return found


async def test_a_plan_that_is_deleted_leaves_no_open_pull_request(world: World) -> None:
    await world.start()
    await opened(world)
    (pull,) = world.kubelet.remote.pulls

    await world.delete(PLANS, "shop")

    await world.until(PROJECTS, "default", lambda p: known(p).get("closed") == 1)
    assert pull.state == "Closed"
    # Who opens it again keeps it.
    pull.state = "Open"
    await world.gone(JOBS, "default--close-0")
    assert pull.state == "Open"


async def test_whenever_the_operator_dies_what_was_written_down_is_closed_once(
    make_world: MakeWorld,
) -> None:
    async def tell(life: Life) -> None:
        world = await make_world()
        first = await world.start()
        await opened(world)
        await first.kill()
        again = await world.start(client=mortal(life), lease="second")
        await unless_over(again.reconciled(project=1), life)
        await world.delete(PLANS, "shop")
        done = asyncio.create_task(_closed(world))
        if await over_or(done, life):
            told = known(await world.get(PROJECTS, "default"))
            await again.kill()
            await world.start(lease="third")
            if not told:  # nobody who lived has seen the deletion
                done.cancel()
                return
        await done

    await after_each_write(tell, more_than=2, most=6)


async def _closed(world: World) -> None:
    project = await world.until(PROJECTS, "default", lambda p: known(p).get("closed"))
    assert (known(project)["closed"], known(project).get("left", 0)) == (1, 0)
    (pull,) = world.kubelet.remote.pulls
    assert pull.state == "Closed"


async def test_one_that_was_merged_meanwhile_stays_as_it_is(world: World) -> None:
    await world.start()
    await opened(world)
    (pull,) = world.kubelet.remote.pulls
    pull.state = "Merged"

    await world.delete(PLANS, "shop")

    project = await world.until(PROJECTS, "default", lambda p: known(p).get("number"))
    assert (known(project).get("closed", 0), pull.state) == (0, "Merged")


async def test_where_the_forge_refuses_the_plan_is_gone_all_the_same_and_it_is_told(
    world: World,
) -> None:
    async def may_not(pod: Pod) -> None:
        await pod.start()
        await pod.end("Failed", {"propose": REFUSED})

    await world.start()
    await opened(world)
    world.kubelet.on("default--close-*", may_not)

    await world.delete(PLANS, "shop")

    await world.gone(PLANS, "shop")
    project = await world.until(PROJECTS, "default", lambda p: known(p).get("reason"))
    told = condition(project, "PullRequestsNotClosed")
    assert (told["status"], told["reason"]) == ("True", "ForgeRefused")
    assert "Remedy:" in told["message"]
    (row,) = known(project)["waiting"]
    assert (row["name"], row["tries"]) == ("shop", 1)
