"""A Task's agent leaves a plan file: a Plan is made of it, people approve it, and it runs."""

from __future__ import annotations

import asyncio
from typing import Any

from bernstein.api.pod import LeftDocument
from bernstein.core.documents import PLAN, handed
from bernstein.core.documents.canonical import canonical
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.approvals.test_decisions import decide, pending
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import Pod, Script
from tests.control_plane.controllers.mortal import Life, after_each_write, deaf, mortal, over_or
from tests.control_plane.controllers.world import QUIET, World, condition, state_of
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import PLANS, TASKS, valid

WRITTEN = b"""\
name: Rate limits
budget: 20
approval: {plan: Never}
stages:
  - name: build
    steps:
      - {title: Limit requests, role: backend, model: sonnet, files: [api.py]}
"""
WRONG = WRITTEN.replace(b"backend", b"wizard").replace(b"budget: 20", b"max_agents: 4000")


def leaves(logs: NodeLogs, written: bytes) -> Script:
    """The agent ends well, changes nothing, and leaves this plan file."""
    document = canonical(written)
    assert isinstance(document, bytes)
    left = LeftDocument(PLAN.name, len(document), handed.digest(document))

    async def script(pod: Pod) -> None:
        await pod.start()
        rows = handed.lines(PLAN.name, document)
        logs.recorded = "".join(f"{row}\n" for row in rows).encode()
        await pod.end("Succeeded", await pod.deliver(empty=True, documents=(left,)))

    return script


async def goal(world: World, **asked: Any) -> None:
    produces = {"plan": asked.pop("plan", {})}
    fields = {"role": "manager", "changes": "none", "maxRetries": 1, "produces": produces}
    await world.task("goal", **(fields | asked))


async def made(world: World) -> Object:
    """The Plan of the Task, which is Closed."""
    task = await world.task_in("goal", "Closed")
    return await world.get(PLANS, task["status"]["produced"]["plan"])


def plan_because(plan: Object) -> list[str]:
    found: list[str] = plan["status"]["approval"]["because"]
    return found


async def test_a_goal_becomes_a_plan_that_runs_once_people_have_approved_it(
    world: World, logs: NodeLogs, user: str
) -> None:
    world.kubelet.on("goal-s1", leaves(logs, WRITTEN))
    await world.start()
    await goal(world, plan={"budget": "5"}, author=user)

    plan = await made(world)
    name = plan["metadata"]["name"]
    assert plan["spec"]["budget"] == "5"
    assert plan["spec"]["author"] == user
    assert plan["spec"]["projectRef"] == "default"
    assert plan["spec"]["stages"][0]["steps"][0]["model"] == "sonnet"
    assert plan["metadata"]["labels"]["bernstein.dev/task"] == "goal"
    assert "ownerReferences" not in plan["metadata"]
    asked = await pending(world, f"plan/{name}")
    assert world.kubelet.ran == ["goal-s1"]
    because = plan_because(await world.get(PLANS, name))
    assert because == ["an agent wrote it, that of Task 'goal'"]
    await decide(world, asked, user, "Approve")

    await world.until(PLANS, name, lambda p: p["status"]["phase"] == "Succeeded")
    assert len(world.kubelet.remote.landed) == 2


async def test_it_outlives_its_task_and_once_deleted_it_does_not_come_back(
    world: World, logs: NodeLogs
) -> None:
    world.kubelet.on("goal-s1", leaves(logs, WRITTEN))
    first = await world.start()
    await goal(world)
    name = (await made(world))["metadata"]["name"]
    await world.delete(PLANS, name)
    await world.gone(PLANS, name)
    await first.stop()
    await world.start(resync=1)
    await world.replicas[-1].reconciled(task=3)

    assert await world.all(PLANS) == {}
    await world.delete(TASKS, "goal")
    await world.gone(CONFIG_MAPS, "goal-s1-documents")
    await goal(world)
    again = (await made(world))["metadata"]["name"]
    assert again != name
    await world.delete(TASKS, "goal")
    await world.gone(TASKS, "goal")
    assert set(await world.all(PLANS)) == {again}


async def test_problems_are_told_to_the_next_attempt_which_may_do_better(
    world: World, logs: NodeLogs
) -> None:
    world.kubelet.on("goal-s1", leaves(logs, WRONG))
    world.kubelet.on("goal-s2", leaves(logs, WRITTEN))
    await world.start()
    await goal(world)

    await made(world)
    task = await world.get(TASKS, "goal")
    first, second = task["status"]["attempts"]
    assert (first["reason"], first["counted"]) == ("PlanFileInvalid", True)
    assert second["reason"] == "Succeeded"
    told = (await world.get(CONFIG_MAPS, "goal-s2-prompt"))["data"]["findings.md"]
    assert "wizard" in told
    assert "max_agents" in told
    assert len(await world.all(PLANS)) == 1


async def test_after_its_retry_it_fails_with_the_problems(world: World, logs: NodeLogs) -> None:
    world.kubelet.on("agent", leaves(logs, WRONG))
    await world.start()
    await goal(world)

    task = await world.stalled(TASKS, "goal", "PlanFileInvalid")
    assert state_of(task) == "Failed"
    assert "max_agents" in task["status"]["feedback"]
    assert await world.sessions() == ["goal-s1", "goal-s2"]
    assert await world.all(PLANS) == {}


async def test_who_leaves_no_plan_file_is_told(world: World, logs: NodeLogs) -> None:
    async def nothing(pod: Pod) -> None:
        await pod.start()
        await pod.end("Succeeded", await pod.deliver(empty=True))

    world.kubelet.on("agent", nothing)
    await world.start()
    await goal(world)

    task = await world.stalled(TASKS, "goal", "PlanFileInvalid")
    assert "left no plan file" in task["status"]["feedback"]


async def test_a_name_that_is_taken_is_one_clear_wait(world: World, logs: NodeLogs) -> None:
    theirs = valid("Plan", world.namespace, "limits", suspend=True)
    await world.apply(PLANS, theirs)
    world.kubelet.on("goal-s1", leaves(logs, WRITTEN))
    await world.start()
    await goal(world, plan={"name": "limits"})

    task = await world.stalled(TASKS, "goal", "NameConflict")
    assert state_of(task) == "Done"
    assert "Plan 'limits' exists already" in condition(task, "Stalled")["message"]
    live = await world.get(PLANS, "limits")
    assert live["spec"]["name"] != "Rate limits"


async def test_whatever_write_was_the_last_there_is_exactly_one_plan(
    make_world: MakeWorld, logs: NodeLogs
) -> None:

    async def tell(life: Life) -> None:
        world = await make_world()
        await world.project(gates=QUIET)
        world.kubelet.on("goal-s1", leaves(logs, WRITTEN))
        first = await world.start(client=mortal(life))
        await goal(world)
        done = asyncio.create_task(_is_asked_about(world))
        if await over_or(done, life):
            await first.kill()
            await world.start(lease="second")
        await done
        await _the_one(world)
        assert await world.sessions() == ["goal-s1"]

    await after_each_write(tell, more_than=8, most=12)


async def _is_asked_about(world: World) -> None:
    plan = await made(world)
    await pending(world, f"plan/{plan['metadata']['name']}")


async def _the_one(world: World) -> str:
    (name,) = await world.all(PLANS)
    task = await world.get(TASKS, "goal")
    assert task["status"]["produced"] == {"plan": name}
    return name


async def test_lost_answers_make_no_second_plan(world: World, logs: NodeLogs) -> None:
    world.kubelet.on("goal-s1", leaves(logs, WRITTEN))
    await world.start(client=deaf(set()))
    await goal(world)
    await _is_asked_about(world)

    await _the_one(world)
