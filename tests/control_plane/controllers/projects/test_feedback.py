"""What people say of a pull request goes back to an agent, with the real controllers."""

from __future__ import annotations

from bernstein.kube.resource import CONFIG_MAPS
from tests.control_plane.controllers.crash.stories import answered, is_open, on_forge
from tests.control_plane.controllers.world import World, stage, state_of
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


async def test_ci_that_has_failed_makes_one_more_attempt_and_the_new_commit_no_other(
    world: World,
) -> None:
    pulls = world.kubelet.remote.pulls
    await world.start()
    await on_forge(world, pullRequest={"feedback": ["CI"], "lookSeconds": 5, "maxFeedback": 2})
    await world.plan("shop", [stage("a", "one")])
    first = (await world.until(PLANS, "shop", is_open))["status"]["delivery"]["sha"]

    pulls[0].red.add(first)
    plan = await world.until(
        PLANS, "shop", lambda p: is_open(p) and p["status"]["delivery"]["sha"] != first
    )
    world.kubelet.remote.merge(pulls[0])
    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")

    feedback = plan["status"]["delivery"]["feedback"]
    assert (feedback["times"], feedback["ci"], feedback["text"]) == (1, first, "> CI failed")
    assert len(plan["status"]["tasks"]) == 2
    assert len(pulls) == 1, "the same one is brought up to date"
