"""Two Plans are delivered to one branch by pull requests, with the real controllers."""

from __future__ import annotations

from tests.control_plane.controllers.crash.stories import outdated
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import PLANS


async def test_both_are_merged_as_they_were_verified_on_what_had_landed(world: World) -> None:
    await world.start()

    await outdated(world)

    delivery = (await world.get(PLANS, "web"))["status"]["delivery"]
    assert (delivery["state"], delivery["updates"]) == ("Merged", 1)
    assert delivery["sha"] != delivery["earlier"]
