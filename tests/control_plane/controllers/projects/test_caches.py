"""A cache of the repository: filled by a Job, read by checkouts, and never waited for."""

from __future__ import annotations

import asyncio
from typing import Any

from bernstein.api.encoding import dump
from bernstein.api.pod import Failure
from bernstein.kube.resource import Object
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import Pod, ends, exited, succeed
from tests.control_plane.controllers.mortal import Life, after_each_write, mortal, over_or
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import QUIET, World, condition, stage
from tests.control_plane.objects import PLANS, PROJECTS, valid


async def with_a_cache(world: World, **cache: Any) -> None:
    (row,) = valid("Project", "")["spec"]["repositories"]
    await world.project(gates=QUIET, repositories=[{**row, "cache": {"claim": "caches", **cache}}])


def known(project: Object) -> Object:
    found: Object
    (found,) = project["status"].get("caches") or [{}]
    return found


async def filled(world: World) -> Object:
    project = await world.until(PROJECTS, "default", lambda p: "content" in known(p))
    return known(project)


def claims(pod: Pod) -> list[Object]:
    return [
        v["persistentVolumeClaim"]
        for v in pod.obj["spec"]["volumes"]
        if len(v) == 2 and "persistentVolumeClaim" in v
    ]


async def without_the_claim(pod: Pod) -> None:
    """As the scheduler says it of a pod whose claim is not there."""
    words = '0/1 nodes are available: persistentvolumeclaim "caches" not found.'
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    await pod.report(phase="Pending", conditions=[{**said, "message": words}])


async def test_checkouts_are_told_of_a_cache_once_it_is_filled(world: World) -> None:
    await world.start()
    await with_a_cache(world)
    state = await filled(world)
    tip = world.kubelet.remote.refs[MAIN]
    assert state["content"]["commit"] == tip
    assert claims(world.kubelet.pods["default--cache-0"]) == [{"claimName": "caches"}]

    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")

    agent = world.kubelet.pods["shop-a-one-s1"]
    assert claims(agent) == [{"claimName": "caches", "readOnly": True}]
    source = agent.config("checkout")["cache"]
    assert (source["folder"], source["content"]["commit"]) == (state["folder"], tip)
    project = await world.get(PROJECTS, "default")
    assert not condition(project, "CacheNotFilled")


async def test_a_cache_that_cannot_be_filled_stops_no_work_and_says_why(world: World) -> None:
    said = Failure("CacheFull", "the cache's volume has no room: No space left on device")
    full = exited(1, dump(said))
    world.kubelet.on("cache", ends("Failed", cache=full))
    await world.start()
    await with_a_cache(world)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")

    assert claims(world.kubelet.pods["shop-a-one-s1"]) == []
    project = await world.until(PROJECTS, "default", lambda p: "reason" in known(p))
    told = condition(project, "CacheNotFilled")
    assert (told["status"], told["reason"]) == ("True", "CacheFull")
    assert "Remedy: Make the volume larger" in told["message"]


async def test_a_claim_that_is_missing_keeps_no_agent_from_starting(world: World) -> None:
    await world.start()
    await with_a_cache(world)
    await filled(world)
    world.kubelet.on("cache", without_the_claim)
    world.kubelet.on("shop-a-one-s1", without_the_claim)
    await world.plan("shop", [stage("a", "one")])

    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")

    assert claims(world.kubelet.pods["shop-a-one-s1"])
    (last,) = [p for name, p in world.kubelet.pods.items() if name == "shop-a-one-s2"]
    assert claims(last) == []
    project = await world.get(PROJECTS, "default")
    told = condition(project, "CacheNotFilled")
    assert told["reason"] == "ClaimNotFound"
    assert "'caches' is not in the namespace" in told["message"]
    assert "content" not in known(project)


async def test_whenever_the_operator_dies_a_cache_is_filled_by_one_job_at_a_time(
    make_world: MakeWorld,
) -> None:
    async def tell(life: Life) -> None:
        world = await make_world()
        at_work, most = 0, 0

        async def counted(pod: Pod) -> None:
            nonlocal at_work, most
            at_work, most = at_work + 1, max(most, at_work + 1)
            await succeed(pod)
            at_work -= 1

        world.kubelet.on("cache", counted)
        await with_a_cache(world)
        first = await world.start(client=mortal(life), lease="first")
        done = asyncio.create_task(_filled(world))
        if await over_or(done, life):
            await first.kill()
            await world.start(lease="second")
        await done
        assert most == 1

    await after_each_write(tell, more_than=1, most=6)


async def _filled(world: World) -> None:
    assert (await filled(world))["content"]["commit"] == world.kubelet.remote.refs[MAIN]
