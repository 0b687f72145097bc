"""Plans: refused before anything runs, expanded once."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from bernstein.kube.resource import JOBS, PODS, Object, Resource
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.controllers.kubelet import nothing, stops, works
from tests.control_plane.controllers.world import PATIENCE, World, condition, stage, state_of
from tests.control_plane.objects import PLANS, TASKS

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
TASKS_COUNTED = "count/tasks.bernstein.dev"


async def test_a_cyclic_plan_is_stalled_and_starts_nothing(world: World) -> None:
    await world.start()
    stages = [stage("a", "one", dependsOn=["b"]), stage("b", "two", dependsOn=["a"])]
    await world.plan("circle", stages)
    plan = await world.stalled(PLANS, "circle", "PlanInvalid")
    assert condition(plan, "Validated")["status"] == "False"
    assert "Cycle detected: a -> b -> a" in condition(plan, "Stalled")["message"]
    assert plan["status"]["phase"] == "Invalid"
    for resource in (TASKS, JOBS, PODS):
        assert await world.all(resource) == {}


async def test_all_problems_of_a_plan_are_told_at_once(world: World) -> None:
    await world.start()
    stages = [
        stage("a", {"title": "one", "role": "wizard"}, dependsOn=["nowhere"]),
        stage("b", "one"),
    ]
    await world.plan("wrong", stages)
    plan = await world.stalled(PLANS, "wrong", "PlanInvalid")
    told = condition(plan, "Validated")["message"]
    assert "Stage 'a' depends on unknown stage 'nowhere'" in told
    assert "Duplicate task title: 'one'" in told
    assert "invalid value 'wizard'" in told
    assert await world.all(TASKS) == {}


async def test_a_plan_without_project_waits_for_one(world: World) -> None:
    await world.start()
    await world.plan("early", [stage("a", "one")], projectRef="later")
    plan = await world.stalled(PLANS, "early", "ProjectNotFound")
    assert "'later'" in condition(plan, "Stalled")["message"]
    await world.project("later", gates={"enabled": False})
    await world.until(PLANS, "early", lambda p: p["status"].get("phase") == "Succeeded")


async def test_the_same_plan_applied_again_changes_nothing(world: World) -> None:
    await world.start()
    stages = [stage("a", "one"), stage("b", "two")]
    await world.plan("twice", stages)
    plan = await world.until(PLANS, "twice", lambda p: p["status"].get("phase") == "Succeeded")
    before = await world.all(TASKS)
    await world.at_rest()
    position = len(await world.writes())
    again = await world.plan("twice", stages)
    assert again["metadata"]["resourceVersion"] == plan["metadata"]["resourceVersion"]
    for replica in world.replicas:
        await replica.stop()
    await world.start()
    await world.task("last")
    await world.task_in("last", "Closed")
    await world.at_rest()
    assert await world.all(TASKS) == before | {"last": await world.get(TASKS, "last")}
    written = {w.name for w in (await world.writes())[position:] if w.resource != "pods"}
    # How many Tasks of a Project are at work is told at most once a second.
    assert written - {"default"} == {"last", "last-s1", "last-s1-prompt", "last-s1-land-1"}


async def test_an_expansion_that_was_interrupted_is_completed(world: World) -> None:
    """What was made before is found by name, owner and label, and not made twice."""
    world.kubelet.on("begin", nothing)
    first = await world.start()
    plan = await world.plan("half", [stage("a", "one", "two")])
    await world.until(PLANS, "half", lambda p: p["status"].get("expanded"))
    await first.stop()
    kept = (await world.get(TASKS, "half-a-one"))["metadata"]["uid"]
    await world.delete(TASKS, "half-a-two")
    status = {"status": {"expanded": False}}
    await world.as_operator.patch(PLANS, "half", world.namespace, status, subresource="status")
    await world.start()
    made = await world.task_in("half-a-two", "Open")
    assert made["metadata"]["ownerReferences"][0]["uid"] == plan["metadata"]["uid"]
    assert (await world.get(TASKS, "half-a-one"))["metadata"]["uid"] == kept


async def test_a_deleted_task_is_not_made_again(world: World) -> None:
    world.kubelet.on("begin", nothing)
    await world.start()
    await world.plan("short", [stage("a", "one", "two")])
    await world.until(PLANS, "short", lambda p: p["status"].get("expanded"))
    await world.delete(TASKS, "short-a-two")
    await world.gone(TASKS, "short-a-two")
    for replica in world.replicas:
        await replica.stop()
    again = await world.start(resync=0.3)
    await again.reconciled(plan=3)
    await world.until(PLANS, "short", lambda p: p["status"]["counts"]["total"] == 2)
    await world.task("last")
    await world.task_in("last", "Closed")
    assert set(await world.all(TASKS)) == {"short-a-one", "last"}


async def test_a_plan_whose_task_was_deleted_fails_and_names_it(world: World) -> None:
    world.kubelet.on("short-a-two-s1", nothing)
    await world.start()
    await world.plan("short", [stage("a", "one", "two")])
    await world.task_in("short-a-one", "Closed")
    await world.delete(TASKS, "short-a-two")
    plan = await world.stalled(PLANS, "short", "TaskFailed")
    assert "short-a-two" in condition(plan, "Stalled")["message"]


@pytest.mark.parametrize("how", ["its Task fails", "its Task is deleted"])
async def test_kubectl_can_wait_for_the_end_of_a_plan_that_fails(
    world: World, tools: Tools, how: str
) -> None:
    deleted = how == "its Task is deleted"
    gives_up = works(outcome="AgentFailed", message="I gave up")
    world.kubelet.on("agent", stops() if deleted else gives_up)
    await world.start()
    await world.plan("short", [stage("a", "one")])
    if deleted:
        await world.task_in("short-a-one", "InProgress")
        await world.delete(TASKS, "short-a-one")

    well = await _waited_for(world, tools, "plan/short")

    assert not well
    found = await world.stalled(PLANS, "short", "TaskFailed")
    assert found["status"]["phase"] == "Failed"
    assert condition(found, "Succeeded")["status"] == "False"


@pytest.mark.parametrize(
    ("end", "phase"),
    [("of itself", "Succeeded"), ("cancelled", "Cancelled"), ("in part", "DeliveredPartially")],
)
async def test_kubectl_can_wait_for_the_end_of_a_plan_and_whether_it_is_a_good_one(
    world: World, tools: Tools, user: str, end: str, phase: str
) -> None:
    scripts = {"in part": works(outcome="AgentFailed"), "cancelled": nothing}
    for number in range(1, 5):
        if end in scripts:
            world.kubelet.on(f"short-a-two-s{number}", scripts[end])
    await world.start()
    await world.plan("short", [stage("a", "one", "two")])
    if end == "cancelled":
        await world.task_in("short-a-two", "Claimed")
        await world.change(PLANS, "short", cancel={"reason": "not needed"})
    if end == "in part":
        await world.until(PLANS, "short", lambda p: p["status"]["phase"] == "Failed")
        asks = {"id": "r-1", "verb": "DeliverPartial", "by": user, "reason": "it is due"}
        await world.change(PLANS, "short", requests=[asks])
        await world.until(PLANS, "short", lambda p: p["status"].get("partial"))

    well = await _waited_for(world, tools, "plan/short")

    assert well == (phase == "Succeeded")
    assert (await world.get(PLANS, "short"))["status"]["phase"] == phase


@pytest.mark.parametrize(
    ("end", "state"), [("of itself", "Closed"), ("failed", "Failed"), ("cancelled", "Cancelled")]
)
async def test_kubectl_can_wait_for_the_end_of_a_task_and_whether_it_is_a_good_one(
    world: World, tools: Tools, end: str, state: str
) -> None:
    scripts = {"failed": works(outcome="AgentFailed"), "cancelled": nothing}
    if end in scripts:
        world.kubelet.on("agent", scripts[end])
    await world.start()
    await world.task("one", maxRetries=0)
    if end == "cancelled":
        await world.task_in("one", "Claimed")
        await world.change(TASKS, "one", cancel={"reason": "not needed"})

    well = await _waited_for(world, tools, "task/one")

    assert well == (state == "Closed")
    assert state_of(await world.get(TASKS, "one")) == state


async def _waited_for(world: World, tools: Tools, what: str) -> bool:
    """Whether it ended well, by the two commands that wait for its end."""
    wait = ("wait", what, "-n", world.namespace)
    ended = ("--for=jsonpath={.status.endedAt}", "--timeout=60s")
    assert "condition met" in await asyncio.to_thread(tools.kubectl, *wait, *ended)
    well = ("--for=condition=Succeeded", "--timeout=1s")
    return (await asyncio.to_thread(tools.run, "kubectl", *wait, *well)).returncode == 0


async def test_stages_in_any_order_raise_no_false_alarm(world: World) -> None:
    """A Task may be seen before the ones that it depends on are made."""
    await world.start()
    late = stage("late", *(f"step {n}" for n in range(5)), dependsOn=["early"])
    await world.plan("upside", [late, stage("early", "step", dependsOn=[])])
    await world.until(TASKS, "upside-late-step-4", lambda t: t["status"].get("sessions"))
    for name in await world.all(TASKS):
        for patch in await world.patches(name):
            said = {c["reason"] for c in patch.get("conditions", ())}
            assert "DependencyFailed" not in said


async def test_a_plan_is_never_deleted_and_never_changed_by_the_operator(world: World) -> None:
    await world.start()
    await world.plan("one", [stage("a", "one")])
    await world.until(PLANS, "one", lambda p: p["status"].get("phase") == "Succeeded")
    touched = {(w.verb, w.subresource) for w in await world.writes() if w.resource == "plans"}
    assert touched == {("patch", "status")}


async def test_a_task_without_a_plan_may_name_its_project(world: World) -> None:
    await world.project("other", gates={"enabled": False})
    await world.start()
    await world.task("one", projectRef="other")
    task = await world.task_in("one", "Closed")
    assert task["status"]["project"] == "other"


async def test_a_plan_with_more_tasks_than_a_quota_has_room_for_says_so_and_then_goes_on(
    world: World,
) -> None:
    await _counted(world)
    await world.apply(QUOTAS, _room(world, "1"))
    await world.until(QUOTAS, "bounds", lambda q: q["status"]["hard"] == {TASKS_COUNTED: "1"})
    await world.project(gates={"enabled": False})
    await world.start()
    await world.plan("wide", [stage("a", "one", "two", "three")])
    plan = await world.stalled(PLANS, "wide", "PodRejected")
    told = condition(plan, "Stalled")["message"]
    assert "exceeded quota: bounds" in told
    assert "Remedy: Look at quota" in told
    assert len(await world.all(TASKS)) <= 1
    await world.apply(QUOTAS, _room(world, "3"))
    await world.until(PLANS, "wide", lambda p: p["status"].get("phase") == "Succeeded")


def _room(world: World, tasks: str) -> Object:
    return {
        "metadata": {"name": "bounds", "namespace": world.namespace},
        "spec": {"hard": {TASKS_COUNTED: tasks}},
    }


async def _counted(world: World) -> None:
    """Until Tasks are counted. A kind is learnt of within half a minute, and a quota that is older
    is looked at again when it changes."""
    rooms = itertools.count(10)

    async def known() -> bool:
        await world.apply(QUOTAS, _room(world, str(next(rooms))))
        await asyncio.sleep(1)
        quota = await world.get(QUOTAS, "bounds")
        return TASKS_COUNTED in quota.get("status", {}).get("used", {})

    await eventually(known, seconds=PATIENCE)
