"""Who may start: dependencies, priority, agents, files, money, suspend."""

from __future__ import annotations

import asyncio

from bernstein.api.pod import Usage
from bernstein.kube.resource import Object
from tests.control_plane.controllers.kubelet import Pod, after, run, works
from tests.control_plane.controllers.world import World, condition, queued, stage, state_of
from tests.control_plane.objects import PLANS, PROJECTS, TASKS

QUIET = {"enabled": False}


async def test_a_dependant_starts_when_what_it_depends_on_is_closed(world: World) -> None:
    free = asyncio.Event()
    world.kubelet.on("first-s1", after(free, works()))
    await world.start()
    await world.task("second", dependsOn=["first"])
    missing = await world.until(TASKS, "second", lambda t: queued(t) == "DependencyFailed")
    assert "'first'" in condition(missing, "Stalled")["message"]
    await world.task("first")
    waits = await world.until(TASKS, "second", lambda t: queued(t) == "DependencyPending")
    assert waits["status"]["waiting"]["message"] == "waits for first"
    assert condition(waits, "DependenciesMet")["status"] == "False"
    free.set()
    second = await world.task_in("second", "Closed")
    assert condition(second, "DependenciesMet")["status"] == "True"
    first = await world.get(TASKS, "first")
    assert _moved(first, "Closed") <= _moved(second, "Claimed")


def _moved(task: Object, state: str) -> str:
    history = task["status"]["history"]
    return str(next(move["time"] for move in history if move["toState"] == state))


async def test_what_depends_on_a_failure_is_stalled_and_the_rest_goes_on(world: World) -> None:
    world.kubelet.on("net-a-one-s*", works(outcome="AgentFailed", message="no"))
    await world.start()
    stages = [
        stage("a", "one"),
        stage("b", "two"),
        stage("c", "three", dependsOn=["b"]),
        stage("d", "four", dependsOn=[]),
    ]
    await world.plan("net", stages)
    await world.task_in("net-d-four", "Closed")
    await world.stalled(TASKS, "net-a-one", "AgentFailed")
    await world.stalled(TASKS, "net-b-two", "DependencyFailed")
    await world.stalled(TASKS, "net-c-three", "DependencyFailed")
    plan = await world.stalled(PLANS, "net", "TaskFailed")
    assert "net-a-one" in condition(plan, "Stalled")["message"]
    # It stalls with the failure, and goes on counting what the others do.
    counts = {"closed": 1, "failed": 1, "open": 2}
    await world.until(PLANS, "net", lambda p: counts.items() <= p["status"]["counts"].items())


async def test_the_highest_priority_gets_the_one_agent(world: World) -> None:
    await world.project(gates=QUIET, limits={"maxAgents": 1})
    free = asyncio.Event()
    world.kubelet.on("agent", after(free, works()))
    await world.start()
    await world.task("first")
    await world.task_in("first", "Claimed")
    for name, priority in (("low", 5), ("middle", 3), ("high", 1)):
        await world.task(name, priority=priority)
    for name in ("low", "middle", "high"):
        await world.until(TASKS, name, lambda t: queued(t) == "MaxAgents")
    free.set()
    await world.task_in("low", "Closed")
    agents = [job for job in world.kubelet.ran if job.endswith("-s1")]
    assert agents == ["first-s1", "high-s1", "middle-s1", "low-s1"]


async def test_never_more_agents_at_work_than_the_project_allows(world: World) -> None:
    await world.project(gates=QUIET, limits={"maxAgents": 2})
    at_work, most = 0, 0
    together = asyncio.Event()

    async def counted(pod: Pod) -> None:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        if most == 2:
            together.set()
        await pod.start()
        await together.wait()
        await asyncio.sleep(0.2)  # for a third one to come, if it may
        at_work -= 1
        await pod.end("Succeeded", await pod.deliver())

    world.kubelet.on("agent", counted)
    await world.start()
    names = [f"t{n}" for n in range(6)]
    await asyncio.gather(*(world.task(name) for name in names))
    for name in names:
        await world.task_in(name, "Closed")
    assert most == 2


async def test_a_plan_may_allow_fewer_agents(world: World) -> None:
    world.kubelet.on("agent", run)
    await world.start()
    await world.plan("slim", [stage("a", "one", "two")], maxAgents=1)
    await world.until(TASKS, "slim-a-two", lambda t: queued(t) == "MaxAgents")
    await world.change(PLANS, "slim", maxAgents=2)
    await world.task_in("slim-a-two", "InProgress")


async def test_tasks_with_overlapping_files_run_one_after_another(world: World) -> None:
    free = asyncio.Event()
    world.kubelet.on("all-s1", after(free, works()))
    await world.start()
    await world.task("all", files=["src/**/*.py"])
    await world.task_in("all", "Claimed")
    await world.task("one", files=["src/app/one.py"])
    await world.task("docs", files=["docs/"])
    await world.task_in("docs", "Closed")
    waits = await world.until(TASKS, "one", lambda t: queued(t) == "FileOverlap")
    assert "'all'" in waits["status"]["waiting"]["message"]
    free.set()
    one = await world.task_in("one", "Closed")
    assert _moved(await world.get(TASKS, "all"), "Closed") <= _moved(one, "Claimed")


async def test_a_batch_task_waits_until_no_other_is_ready(world: World) -> None:
    await world.project(gates=QUIET, limits={"maxAgents": 1})
    free = asyncio.Event()
    world.kubelet.on("first-s1", after(free, works()))
    await world.start()
    await world.task("first")
    await world.task_in("first", "Claimed")
    await world.task("batch", mode="batch", priority=1)
    await world.until(TASKS, "batch", queued)
    await world.task("last", priority=5)
    await world.until(TASKS, "last", queued)
    free.set()
    await world.task_in("batch", "Closed")
    agents = [job for job in world.kubelet.ran if job.endswith("-s1")]
    assert agents == ["first-s1", "last-s1", "batch-s1"]


async def test_a_spent_budget_starts_nothing_until_it_is_raised(world: World) -> None:
    prices = [{"model": "sonnet", "input": "10", "output": "10"}]
    await world.project(gates=QUIET, budget={"prices": prices})
    world.kubelet.on("cheap-a-one-s1", works(usage=Usage(input=300_000)))
    await world.start()
    await world.plan("cheap", [stage("a", "one"), stage("b", "two")], budget="2.50")
    task = await world.stalled(TASKS, "cheap-b-two", "BudgetExceeded")
    assert state_of(task) == "Open"
    assert "the Plan's budget of $2.50 is spent" in condition(task, "Stalled")["message"]
    plan = await world.stalled(PLANS, "cheap", "BudgetExceeded")
    assert plan["status"]["spendUsd"] == "3"
    assert await world.sessions() == ["cheap-a-one-s1"]
    await world.change(PLANS, "cheap", budget="10")
    plan = await world.until(PLANS, "cheap", lambda p: p["status"]["phase"] == "Succeeded")
    assert condition(plan, "Stalled") == {}


async def test_a_deleted_task_keeps_its_part_of_the_budget(world: World) -> None:
    prices = [{"model": "sonnet", "input": "10", "output": "10"}]
    await world.project(gates=QUIET, budget={"prices": prices})
    world.kubelet.on("cheap-a-one-s1", works(usage=Usage(input=300_000)))
    world.kubelet.on("cheap-a-two-s1", run)
    await world.start()
    await world.plan("cheap", [stage("a", "one", "two")], budget="2.50")
    await world.task_in("cheap-a-one", "Closed")
    await world.until(PLANS, "cheap", lambda p: p["status"]["spendUsd"] == "3")
    await world.delete(TASKS, "cheap-a-one")
    await world.gone(TASKS, "cheap-a-one")
    await world.change(PLANS, "cheap", maxAgents=3)
    plan = await world.until(PLANS, "cheap", lambda p: p["status"]["observedGeneration"] == 2)
    assert plan["status"]["spendUsd"] == "3"


async def test_a_suspended_plan_starts_nothing_and_goes_on_when_resumed(world: World) -> None:
    free = asyncio.Event()
    world.kubelet.on("pause-a-one-s1", after(free, works()))
    await world.start()
    await world.plan("pause", [stage("a", "one"), stage("b", "two")])
    await world.task_in("pause-a-one", "Claimed")
    await world.change(PLANS, "pause", suspend=True)
    plan = await world.until(PLANS, "pause", lambda p: p["status"]["phase"] == "Suspended")
    assert condition(plan, "Suspended")["status"] == "True"
    free.set()
    await world.task_in("pause-a-one", "Closed")
    await world.until(TASKS, "pause-b-two", lambda t: queued(t) == "PlanSuspended")
    assert await world.sessions() == ["pause-a-one-s1"]
    await world.change(PLANS, "pause", suspend=False)
    plan = await world.until(PLANS, "pause", lambda p: p["status"]["phase"] == "Succeeded")
    assert condition(plan, "Suspended") == {}


async def test_the_project_says_how_many_sessions_run(world: World) -> None:
    free = asyncio.Event()
    world.kubelet.on("agent", after(free, works()))
    await world.start()
    await world.task("one")
    await world.until(PROJECTS, "default", lambda p: p["status"].get("running") == 1)
    free.set()
    await world.until(PROJECTS, "default", lambda p: p["status"].get("running") == 0)
