"""Pods of agents are held until their outcome is recorded, and never longer."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.kube.resource import JOBS, PODS
from tests.control_plane.controllers.kubelet import Pod, run
from tests.control_plane.controllers.mortal import unable
from tests.control_plane.controllers.world import World, state_of
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS
from tests.resources import NAMESPACES


async def test_a_result_outlives_the_deletion_of_its_pod(world: World) -> None:
    """A pod that is deleted while nobody leads is still there to be read."""
    nobody_leads = asyncio.Event()

    async def ends_unseen(pod: Pod) -> None:
        await pod.start()
        await nobody_leads.wait()
        await pod.end("Succeeded", await pod.deliver())

    world.kubelet.on("agent", ends_unseen)
    first = await world.start()
    await world.task("one")
    await world.task_in("one", "InProgress")
    await first.kill()
    nobody_leads.set()
    pod = world.kubelet.pods["one-s1"]
    await world.until(PODS, pod.name, lambda p: p["status"]["phase"] == "Succeeded")
    await world.admin.delete(PODS, pod.name, world.namespace, grace_seconds=0)
    held = await world.get(PODS, pod.name)
    assert "bernstein.dev/result" in held["metadata"]["finalizers"]
    await world.start(lease="second")
    task = await world.until(TASKS, "one", lambda t: t["status"].get("attempts"))
    assert task["status"]["attempts"][0]["session"] == "one-s1"
    await world.gone(PODS, pod.name)


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
@pytest.mark.parametrize("what", ["one", "one-s1"])
async def test_a_deleted_owner_takes_its_pod_with_it(
    world: World, what: str, propagation: str
) -> None:
    world.kubelet.on("agent", run)
    await world.start()
    await world.task("one")
    await world.task_in("one", "InProgress")
    pod = world.kubelet.pods["one-s1"].name
    resource = TASKS if what == "one" else AGENT_SESSIONS
    await world.delete(resource, what, propagation)
    await world.gone(PODS, pod)
    await world.gone(JOBS, "one-s1")
    if resource is TASKS:
        await world.gone(TASKS, "one")


async def test_a_namespace_really_goes_away(world: World) -> None:
    world.kubelet.on("agent", run)
    await world.start()
    await world.task("one")
    await world.task("two", dependsOn=["one"])
    await world.plan("shop", [{"name": "a", "steps": [{"title": "three"}]}])
    await world.task_in("one", "InProgress")
    await world.task_in("shop-a-three", "InProgress")
    await world.admin.delete(NAMESPACES, world.namespace, propagation="Background")
    await world.gone(NAMESPACES, world.namespace)


async def test_a_pod_is_let_go_by_the_next_leader(world: World) -> None:
    """The operator died between recording the outcome and taking its finalizer off."""
    first = await world.start(client=unable("pods"))
    await world.task("one")
    await world.until(AGENT_SESSIONS, "one-s1", lambda s: state_of(s) == "Dead")
    pod = world.kubelet.pods["one-s1"].name
    held = (await world.get(PODS, pod))["metadata"]["finalizers"]
    assert "bernstein.dev/result" in held
    await first.kill()
    await world.start()
    await world.let_go(pod)
    assert state_of(await world.get(AGENT_SESSIONS, "one-s1")) == "Dead"


async def test_a_deleted_plan_takes_everything_with_it(world: World) -> None:
    world.kubelet.on("agent", run)
    await world.start()
    await world.plan("shop", [{"name": "a", "steps": [{"title": "three"}]}])
    await world.task_in("shop-a-three", "InProgress")
    pod = world.kubelet.pods["shop-a-three-s1"].name
    await world.delete(PLANS, "shop", "Foreground")
    await world.gone(PLANS, "shop")
    await world.gone(PODS, pod)
    # Not in this order: the garbage collector may let an owner go before what it owns.
    for resource in (TASKS, AGENT_SESSIONS, JOBS):
        await world.none_left(resource)
