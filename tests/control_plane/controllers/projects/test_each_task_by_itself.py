"""A Plan of which each Task is brought to the branch by itself, without a pull request."""

from __future__ import annotations

from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import QUIET, World, stage
from tests.control_plane.objects import PLANS, TASKS


async def test_each_task_lands_on_the_branch_at_once_and_the_plan_lands_nothing(
    world: World,
) -> None:
    await world.project(gates=QUIET, merge={"strategy": "direct", "per": "Task"})
    await world.start()
    await world.plan("shop", [stage("a", "one"), stage("b", "two")])

    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")

    remote = world.kubelet.remote
    assert [ref for ref, _ in remote.landed] == [MAIN, MAIN], "one for each Task"
    tasks = await world.all(TASKS)
    shas = [tasks[name]["status"]["delivery"]["sha"] for name in ("shop-a-one", "shop-b-two")]
    assert shas == [sha for _, sha in remote.landed]
    assert plan["status"]["delivery"]["state"] == "Merged"
    assert plan["status"]["integration"]["per"] == "Task"
    assert not any(job.startswith("shop-land") for job in world.kubelet.ran), "nothing as a whole"
