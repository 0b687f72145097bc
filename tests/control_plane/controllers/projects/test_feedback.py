"""What people say of a pull request goes back to an agent, with the real controllers."""

from __future__ import annotations

from bernstein.kube.resource import CONFIG_MAPS
from tests.control_plane.controllers.crash.stories import answered
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import PLANS, TASKS


async def test_a_plan_has_what_was_said_changed_and_proposes_that_in_the_same_pull_request(
    world: World,
) -> None:
    await world.start()

    await answered(world)

    plan, tasks = await world.get(PLANS, "shop"), await world.all(TASKS)
    (name,) = (name for name in tasks if "-answer-" in name)
    first, second = plan["status"]["tasks"]
    assert (first["landed"]["number"], second["landed"]["number"]) == (1, 2)
    assert (second["name"], second["answers"]) == (name, 1)
    assert state_of(tasks[name]) == "Closed"
    assert "constant" not in str(tasks[name]["spec"])
    assert plan["status"]["spendUsd"] == "2", "what it costs is the Plan's"
    feedback = plan["status"]["delivery"]["feedback"]
    assert (feedback["times"], feedback["text"]) == (1, "> Use a constant.")
    told = [each["data"].get("review.md") for each in (await world.all(CONFIG_MAPS)).values()]
    assert told.count("> Use a constant.") == 1, "its agent alone is told"
