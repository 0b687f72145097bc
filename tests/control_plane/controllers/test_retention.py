"""What has ended goes when its time is over, with what it owns, and nothing else does."""

from __future__ import annotations

from bernstein.kube.resource import JOBS, PODS
from tests.control_plane.controllers.world import QUIET, World, stage
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS

SOON = {"tasksSeconds": 1}


async def test_a_task_without_a_plan_goes_with_its_session_and_jobs(world: World) -> None:
    await world.project(gates=QUIET, retention={"tasksSeconds": 0})
    await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")
    await world.at_rest()

    await world.project(gates=QUIET, retention=SOON)

    await world.gone(TASKS, "one")
    await world.gone(AGENT_SESSIONS, "one-s1")
    for resource in (JOBS, PODS):
        await world.none_left(resource)


async def test_a_task_stays_until_the_one_that_depends_on_it_has_ended(world: World) -> None:
    await world.project(gates=QUIET, retention=SOON)
    replica = await world.start(resync=0.5)
    await world.task("one")
    await world.task("two", dependsOn=["one"], files=["b.py"])
    await world.task("never", dependsOn=["one", "missing"])
    await world.task_in("two", "Closed")
    await world.gone(TASKS, "two")

    await replica.reconciled(task=replica.reconciles("task") + 10)
    assert await world.get(TASKS, "one")

    await world.change(TASKS, "never", cancel={"reason": "Enough"})
    await world.gone(TASKS, "one")


async def test_tasks_of_a_plan_stay_with_it(world: World) -> None:
    await world.project(gates=QUIET, retention=SOON)
    replica = await world.start(resync=0.5)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")

    await replica.reconciled(task=replica.reconciles("task") + 10)

    assert list(await world.all(TASKS)) == ["shop-a-one"]


async def test_a_finished_job_says_how_long_it_stays(world: World) -> None:
    await world.project(gates=QUIET, retention={"podsSeconds": 300})
    await world.start()
    await world.task("one")

    job = await world.until(JOBS, "one-s1", lambda j: j["spec"])

    assert job["spec"]["ttlSecondsAfterFinished"] == 300
