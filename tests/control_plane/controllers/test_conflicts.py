"""A name that somebody else has: told once as a condition, not tried again and again."""

from __future__ import annotations

import asyncio

from bernstein.core.owners import owner_reference
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Object
from tests.cluster.control_plane.audit import Write
from tests.control_plane.controllers.world import World, condition, queued, stage, state_of
from tests.control_plane.objects import AGENT_SESSIONS, OURS, PLANS, TASKS, valid


def foreign_job(namespace: str, name: str) -> Object:
    """A Job of somebody else, that runs nothing."""
    container = {
        "name": "main",
        "image": "busybox",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    pod = {"restartPolicy": "Never", "containers": [container]}
    return {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"suspend": True, "template": {"spec": pod}},
    }


async def few_requests(world: World, name: str) -> None:
    """Nobody hammers the API server with a create that cannot work: a few, and then none."""
    tried: list[Write] = []
    while (now := await _creates(world, name)) != tried:
        tried = now
        assert len(tried) <= 4
        await asyncio.sleep(1.5)
    assert {write.code for write in tried} == {409}


async def _creates(world: World, name: str) -> list[Write]:
    found = [w for w in await world.writes() if (w.resource, w.verb) == ("jobs", "create")]
    return [write for write in found if write.name == name]


async def test_a_plan_whose_tasks_name_is_taken_makes_none_until_it_is_free(world: World) -> None:
    await world.start()
    await world.task("shop-a-two", dependsOn=["never"])
    await world.task_in("shop-a-two", "Open")  # seen, which the Plan's event alone would not tell
    await world.plan("shop", [stage("a", "one", "two")])
    plan = await world.stalled(PLANS, "shop", "NameConflict")
    told = condition(plan, "Stalled")["message"]
    assert "Task 'shop-a-two' exists already" in told
    assert "Remedy: " in told
    assert set(await world.all(TASKS)) == {"shop-a-two"}
    await world.delete(TASKS, "shop-a-two")
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    assert condition(plan, "Stalled") == {}


async def test_two_plans_never_need_the_same_task(world: World) -> None:
    """`a-b` + `c` and `a` + `b-c` gave the same name."""
    await world.start()
    await world.plan("a-b", [stage("c", "d")])
    await world.plan("a", [stage("b c", "d")])
    for plan in ("a-b", "a"):
        await world.until(PLANS, plan, lambda p: p["status"].get("phase") == "Succeeded")
    assert set(await world.all(TASKS)) == {"a-b--c-d", "a-b-c-d"}


async def test_a_task_of_another_plan_is_left_to_it(world: World) -> None:
    await world.start()
    other = await world.plan("other", [stage("c", "d")])
    reference = owner_reference("Plan", "other", other["metadata"]["uid"])
    hung_on = valid("Task", world.namespace, "a-b-c", dependsOn=["never"])
    hung_on["metadata"] |= {"labels": OURS, "ownerReferences": [reference]}
    await world.as_operator.create(TASKS, hung_on)
    await world.task_in("a-b-c", "Open")
    await world.plan("a", [stage("b", "c")])
    plan = await world.stalled(PLANS, "a", "NameConflict")
    assert (
        "Task 'a-b-c' exists already and belongs to Plan 'other'"
        in (condition(plan, "Stalled")["message"])
    )
    assert not plan["status"]["expanded"]


async def test_a_foreign_job_under_a_sessions_name_ends_the_session(world: World) -> None:
    await world.admin.create(JOBS, foreign_job(world.namespace, "one-s1"))
    await world.start()
    await world.task("one", maxRetries=0)
    task = await world.stalled(TASKS, "one", "NameConflict")
    assert "Job 'one-s1' exists already" in condition(task, "Stalled")["message"]
    assert (state_of(task), task["status"]["attempt"]) == ("Open", 0)
    session = await world.get(AGENT_SESSIONS, "one-s1")
    assert session["status"]["outcome"]["reason"] == "NameConflict"
    await few_requests(world, "one-s1")
    assert "suspend" in (await world.get(JOBS, "one-s1"))["spec"]


async def test_a_foreign_config_map_is_no_prompt(world: World) -> None:
    metadata = {"name": "one-s1-prompt", "namespace": world.namespace}
    await world.admin.create(CONFIG_MAPS, {"metadata": metadata, "data": {"head.md": "evil"}})
    await world.start()
    await world.task("one", maxRetries=0)
    await world.stalled(TASKS, "one", "NameConflict")
    assert await world.all(JOBS) == {}


async def test_one_tasks_conflict_holds_up_no_other(world: World) -> None:
    await world.admin.create(JOBS, foreign_job(world.namespace, "one-s1"))
    await world.start()
    await world.task("one")
    await world.stalled(TASKS, "one", "NameConflict")
    await world.task("two")
    await world.task_in("two", "Closed")
    assert queued(await world.get(TASKS, "one")) == "NameConflict"


async def test_a_foreign_job_under_a_merges_name_stalls_the_task(world: World) -> None:
    await world.admin.create(JOBS, foreign_job(world.namespace, "one-s1-land-1"))
    await world.start()
    await world.task("one")
    task = await world.stalled(TASKS, "one", "NameConflict")
    assert state_of(task) == "Done"
    assert world.kubelet.remote.landed == []
    await few_requests(world, "one-s1-land-1")
    await world.delete(JOBS, "one-s1-land-1")
    await world.replicas[0].stop()
    await world.start()
    task = await world.task_in("one", "Closed")
    assert condition(task, "Stalled") == {}


async def test_a_foreign_job_under_a_plans_name_stalls_the_plan(world: World) -> None:
    await world.admin.create(JOBS, foreign_job(world.namespace, "shop-begin-0"))
    await world.start()
    await world.plan("shop", [stage("a", "one")])
    plan = await world.stalled(PLANS, "shop", "NameConflict")
    assert "Job 'shop-begin-0'" in condition(plan, "Stalled")["message"]
    await few_requests(world, "shop-begin-0")
    await world.delete(JOBS, "shop-begin-0")
    await world.change(PLANS, "shop", maxAgents=3)
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    assert condition(plan, "Stalled") == {}
