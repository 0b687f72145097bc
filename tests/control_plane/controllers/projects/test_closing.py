"""The pull request of what is cancelled is closed, with the real controllers."""

from __future__ import annotations

from bernstein.kube.resource import JOBS
from tests.control_plane.controllers.crash.stories import withdrawn
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import PLANS


async def test_a_plan_that_is_cancelled_leaves_no_open_pull_request(world: World) -> None:
    await world.start()

    await withdrawn(world)

    status = (await world.get(PLANS, "shop"))["status"]
    assert (status["delivery"]["state"], status["delivery"]["pullRequest"]["state"]) == (
        "Withdrawn",
        "Closed",
    )
    (ended,) = [each for each in status["conditions"] if each["type"] == "Succeeded"]
    assert ended["message"].endswith("/pulls/1 is closed")
    jobs = await world.all(JOBS)
    assert len([name for name in jobs if "-propose-" in name]) == 2
