"""Two Plans are delivered to one branch by pull requests, with the real controllers."""

from __future__ import annotations

from tests.control_plane.controllers.crash.stories import is_open, on_forge
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, stage
from tests.control_plane.objects import PLANS


async def test_both_are_merged_as_they_were_verified_on_what_had_landed(world: World) -> None:
    """People merge one: what the other one proposes is made anew, and merged, too."""
    await world.start()
    remote = world.kubelet.remote
    await on_forge(world, pullRequest={"lookSeconds": 5})
    for name in ("shop", "web"):
        await world.plan(name, [stage("a", "one")])
    plans = [await world.until(PLANS, name, is_open) for name in ("shop", "web")]
    before = plans[1]["status"]["delivery"]["sha"]
    numbers = [plan["status"]["delivery"]["pullRequest"]["number"] for plan in plans]
    first, second = (remote.pulls[number - 1] for number in numbers)

    remote.merge(first)
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    await world.until(
        PLANS, "web", lambda p: is_open(p) and p["status"]["delivery"]["sha"] != before
    )
    assert remote.refs[MAIN] in remote.commits(f"refs/heads/{second.head}")
    remote.merge(second)
    await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Succeeded")

    assert len(remote.pulls) == 2, "a third one is never opened"
    delivery = (await world.get(PLANS, "web"))["status"]["delivery"]
    assert (delivery["state"], delivery["updates"]) == ("Merged", 1)
    assert delivery["sha"] != before
    assert delivery.get("earlier") in (None, before), "until the watch has seen the newer one"
