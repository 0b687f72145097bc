"""A Task is deleted while its agent works: the Plan keeps what the agent has cost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bernstein.api.pod import Usage
from bernstein.kube.resource import JOBS, PODS, Object
from tests.control_plane.controllers.kubelet import stops, works
from tests.control_plane.controllers.world import (
    PATIENCE,
    Replica,
    World,
    queued,
    stage,
    state_of,
)
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS

PRICES = [{"model": "sonnet", "input": "10", "output": "10"}]
THREE_DOLLARS = Usage(input=300_000)
TASK, SESSION = "shop-a-one", "shop-a-one-s1"


async def begun(world: World, *steps: str, **spec: Any) -> Replica:
    """A Plan whose agents work until they are told to end, for three dollars each."""
    await world.project(gates={"enabled": False}, budget={"prices": PRICES})
    world.kubelet.on("agent", stops(usage=THREE_DOLLARS))
    replica = await world.start(resync=0.5)
    await world.plan("shop", [stage("a", *steps)], **spec)
    await world.task_in(TASK, "InProgress")
    return replica


async def nothing_is_left(world: World, name: str, uid: str) -> None:
    """Of the session of that uid, and in the Plan's status of it."""

    async def uids() -> set[str]:
        return {s["metadata"]["uid"] for s in (await world.all(AGENT_SESSIONS)).values()}

    async with asyncio.timeout(PATIENCE):
        while uid in await uids():  # noqa: ASYNC110 - it is gone when nobody lists it
            await asyncio.sleep(0.05)
    await world.until(PLANS, name, lambda p: not p["status"]["settled"]["sessions"])


async def nothing_is_written(world: World, replica: Replica) -> None:
    """Though the Plan is looked at again and again."""
    await world.at_rest()
    position = len(await world.writes())
    await replica.reconciled(plan=replica.reconciles("plan") + 5)
    assert (await world.writes())[position:] == []


def cost(replica: Replica, world: World) -> float | None:
    """What Prometheus is told."""
    told = [
        sample.value
        for family in replica.metrics.registry.collect()
        for sample in family.samples
        if sample.name == "bernstein_cost_usd_total"
        and sample.labels["namespace"] == world.namespace
    ]
    return sum(told) if told else None


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
async def test_the_plan_settles_the_session_of_a_deleted_task_once(
    world: World, propagation: str
) -> None:
    replica = await begun(world, "one")
    world.kubelet.may_end.clear()
    session = await world.get(AGENT_SESSIONS, SESSION)
    await world.delete(TASKS, TASK, propagation)
    await world.until(PODS, world.kubelet.pods[SESSION].name, _is_deleting)
    assert (await world.get(PLANS, "shop"))["status"]["spendUsd"] == "0"
    world.kubelet.may_end.set()
    await nothing_is_left(world, "shop", session["metadata"]["uid"])
    await world.gone(TASKS, TASK)
    await world.gone(JOBS, SESSION)
    plan = await world.stalled(PLANS, "shop", "TaskFailed")
    assert plan["status"]["spendUsd"] == plan["status"]["settled"]["spendUsd"] == "3"
    assert plan["status"]["usage"]["input"] == 300_000
    assert cost(replica, world) == 3
    await nothing_is_written(world, replica)


async def test_what_a_deleted_task_has_cost_keeps_the_next_one_from_starting(world: World) -> None:
    await begun(world, "one", "two", budget="2.50", maxAgents=1)
    session = await world.get(AGENT_SESSIONS, SESSION)
    await world.change(PLANS, "shop", suspend=True)
    await world.until(TASKS, "shop-a-two", lambda t: queued(t) == "PlanSuspended")
    await world.delete(TASKS, TASK)
    await nothing_is_left(world, "shop", session["metadata"]["uid"])
    await world.change(PLANS, "shop", suspend=False)
    await world.stalled(TASKS, "shop-a-two", "BudgetExceeded")


async def test_a_task_that_is_made_again_is_told_from_the_deleted_one(world: World) -> None:
    replica = await begun(world, "one")
    world.kubelet.may_end.clear()
    old = await world.get(TASKS, TASK)
    session = await world.get(AGENT_SESSIONS, SESSION)
    await world.change(PLANS, "shop", suspend=True)  # it ends for want of the Task otherwise
    await world.delete(TASKS, TASK)
    await world.gone(TASKS, TASK)
    kept = {key: old["metadata"][key] for key in ("name", "namespace", "labels", "ownerReferences")}
    again = await world.as_operator.create(TASKS, {**old, "metadata": kept, "status": None})
    await world.until(
        PLANS, "shop", lambda p: p["status"]["tasks"][0]["uid"] == again["metadata"]["uid"]
    )
    world.kubelet.on("agent", works(usage=THREE_DOLLARS))
    await world.change(PLANS, "shop", suspend=False)
    await world.task_in(TASK, "Claimed")
    world.kubelet.may_end.set()
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    assert plan["status"]["tasks"][0]["uid"] == again["metadata"]["uid"]
    await nothing_is_left(world, "shop", session["metadata"]["uid"])
    plan = await world.get(PLANS, "shop")
    assert plan["status"]["spendUsd"] == "6"
    assert state_of(await world.get(AGENT_SESSIONS, SESSION)) == "Dead"
    assert cost(replica, world) == 6
    await nothing_is_written(world, replica)


async def test_a_session_goes_with_its_plan_when_both_are_deleted(world: World) -> None:
    await begun(world, "one")
    world.kubelet.may_end.clear()
    await world.delete(TASKS, TASK)
    await world.gone(TASKS, TASK)
    await world.delete(PLANS, "shop")
    world.kubelet.may_end.set()
    await world.gone(AGENT_SESSIONS, SESSION)


@pytest.mark.parametrize("phase", ["Failed", "Cancelled"])
async def test_a_plan_that_has_ended_settles_what_ends_after_it(world: World, phase: str) -> None:
    replica = await begun(world, "one")
    world.kubelet.may_end.clear()
    session = await world.get(AGENT_SESSIONS, SESSION)
    await world.change(PLANS, "shop", suspend=phase == "Cancelled")
    await world.delete(TASKS, TASK)
    await world.gone(TASKS, TASK)
    if phase == "Cancelled":
        await world.change(PLANS, "shop", cancel={"reason": "not needed"})
    await world.until(PLANS, "shop", lambda p: p["status"].get("endedAt"))
    world.kubelet.may_end.set()
    await nothing_is_left(world, "shop", session["metadata"]["uid"])
    plan = await world.get(PLANS, "shop")
    assert (plan["status"]["phase"], plan["status"]["spendUsd"]) == (phase, "3")
    await nothing_is_written(world, replica)


def _is_deleting(obj: Object) -> bool:
    return "deletionTimestamp" in obj["metadata"]
