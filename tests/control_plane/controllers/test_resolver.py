"""A Plan whose work does not merge with its branch: what a Task of its own makes of that."""

from __future__ import annotations

from bernstein.kube.resource import JOBS
from tests.control_plane.controllers.crash.stories import resolved
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS


async def test_what_does_not_merge_is_resolved_verified_and_delivered(world: World) -> None:
    await world.start()

    await resolved(world)

    plan, tasks = await world.get(PLANS, "shop"), await world.all(TASKS)
    (name,) = (name for name in tasks if "-resolve-" in name)
    first, resolver = plan["status"]["tasks"]
    assert (first["landed"]["number"], resolver["landed"]["number"]) == (1, 2)
    assert resolver["name"] == name
    assert state_of(tasks[name]) == "Closed"
    assert plan["status"]["counts"]["closed"] == plan["status"]["counts"]["total"] == 2
    assert plan["status"]["spendUsd"] == "2"
    judged = tasks[name]["status"]["verification"]
    assert judged["candidate"]
    assert judged["passed"]
    session = await world.get(AGENT_SESSIONS, f"{name}-s1")
    assert session["spec"]["resumeSha"] == resolver["resolves"]["sha"]
    assert world.kubelet.remote.landed[-1] == (MAIN, plan["status"]["delivery"]["sha"])
    assert f"{name}-s1-prepare-1" in await world.all(JOBS)
