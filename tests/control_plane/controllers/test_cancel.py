"""Cancel: the agent is asked to end, its work is kept, nothing is merged, then it is Cancelled."""

from __future__ import annotations

import asyncio

from bernstein.kube.resource import JOBS, PODS
from tests.background import eventually
from tests.control_plane.controllers.kubelet import Pod, nothing, run, works
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, condition, stage, state_of
from tests.control_plane.objects import AGENT_SESSIONS, OURS, PLANS, TASKS, valid

CANCEL = {"reason": "not needed any more"}


class SoftStop:
    """An agent that ends when it is asked to, with its last checkpoint; as the recorder does."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.may_end = asyncio.Event()

    async def __call__(self, pod: Pod) -> None:
        await pod.start()
        await self._world.until(AGENT_SESSIONS, pod.job, lambda s: s["spec"].get("stop"))
        await self.may_end.wait()
        await pod.end("Succeeded", await pod.deliver(stopped="Cancelled"))


async def test_a_running_task_is_cancelled_after_its_pod_has_ended(world: World) -> None:
    agent = SoftStop(world)
    world.kubelet.on("agent", agent)
    await world.start()
    await world.task("one")
    await world.task_in("one", "InProgress")
    await world.change(TASKS, "one", cancel=CANCEL)
    session = await world.until(AGENT_SESSIONS, "one-s1", lambda s: s["spec"].get("stop"))
    assert session["spec"]["stop"] == {"reason": "Cancelled"}
    asked = await world.until(
        TASKS, "one", lambda t: condition(t, "Reconciling")["reason"] == "Cancelling"
    )
    assert state_of(asked) == "InProgress"
    agent.may_end.set()
    task = await world.task_in("one", "Cancelled")
    pod = world.kubelet.pods["one-s1"]
    await eventually(lambda: pod.obj["status"]["phase"] == "Succeeded")
    last = task["status"]["history"][-1]
    assert (last["actor"], last["reason"]) == ("user", "Cancelled")
    assert condition(task, "Succeeded")["message"] == CANCEL["reason"]
    assert [a["counted"] for a in task["status"]["attempts"]] == [False]
    assert world.kubelet.remote.landed == []
    session = await world.get(AGENT_SESSIONS, "one-s1")
    assert session["status"]["work"]["sha"] != world.kubelet.remote.refs[MAIN]


async def test_a_task_that_waits_is_cancelled_at_once(world: World) -> None:
    await world.start()
    await world.task("one", dependsOn=["never"])
    await world.task_in("one", "Open")
    await world.change(TASKS, "one", cancel=CANCEL)
    await world.task_in("one", "Cancelled")
    assert await world.sessions() == []


async def test_an_agent_that_has_not_started_is_taken_away(world: World) -> None:
    async def bound(pod: Pod) -> None:
        await pod.bind()

    world.kubelet.on("agent", bound)
    await world.start()
    await world.task("one")
    await world.task_in("one", "Claimed")
    await world.until(JOBS, "one-s1", lambda j: j["status"].get("active"))
    await world.change(TASKS, "one", cancel=CANCEL)
    await world.task_in("one", "Cancelled")
    await world.gone(JOBS, "one-s1")
    assert await world.all(PODS) == {}


async def test_a_session_that_is_stopped_before_it_starts_never_gets_a_pod(world: World) -> None:
    """The Task controller may be faster than the session controller."""
    task = await world.task("one", cancel=CANCEL)
    uid = task["metadata"]["uid"]
    spec = valid("AgentSession", world.namespace)["spec"] | {"stop": {"reason": "Cancelled"}}
    session = {
        "metadata": {"name": "one-s1", "namespace": world.namespace, "labels": OURS},
        "spec": spec | {"taskRef": {"name": "one", "uid": uid}},
    }
    session |= {"apiVersion": AGENT_SESSIONS.api_version, "kind": "AgentSession"}
    await world.as_operator.create(AGENT_SESSIONS, session)
    await world.start()
    dead = await world.until(AGENT_SESSIONS, "one-s1", lambda s: state_of(s) == "Dead")
    assert dead["status"]["outcome"]["reason"] == "Cancelled"
    assert dead["status"]["outcome"]["started"] is False
    # A request for its Job that is still on its way finds the name taken.
    jobs = await world.all(JOBS)
    assert [job["spec"]["suspend"] for job in jobs.values()] == [True]
    assert world.kubelet.ran == []


async def test_checks_are_ended_when_their_task_is_cancelled(world: World) -> None:
    await world.project()
    world.kubelet.on("check", run)
    await world.start()
    await world.task("one")
    await world.until(JOBS, "one-s1-lint-0", lambda j: j["status"].get("ready"))
    await world.change(TASKS, "one", cancel=CANCEL)
    await world.task_in("one", "Cancelled")
    await world.gone(JOBS, "one-s1-lint-0")
    assert world.kubelet.remote.landed == []


async def test_a_merge_that_has_started_is_not_cancelled(world: World) -> None:
    world.kubelet.on("land", nothing)
    await world.start()
    await world.task("one")
    await world.until(JOBS, "one-s1-land-1", lambda j: j["status"].get("active"))
    await world.change(TASKS, "one", cancel=CANCEL)
    task = await world.until(TASKS, "one", lambda t: condition(t, "CancelRefused"))
    assert condition(task, "CancelRefused")["reason"] == "MergeInProgress"
    assert state_of(task) == "Done"


async def test_a_closed_task_stays_closed(world: World) -> None:
    await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")
    position = len(await world.patches("one"))
    await world.change(TASKS, "one", cancel=CANCEL)
    await world.until(TASKS, "one", lambda t: t["status"]["observedGeneration"] == 2)
    assert [p.get("state") for p in (await world.patches("one"))[position:]] == [None]


async def test_a_plan_hands_its_cancel_on_and_waits_for_its_tasks(world: World) -> None:
    agent = SoftStop(world)
    world.kubelet.on("stop-a-one-s1", works())
    world.kubelet.on("stop-a-two-s1", agent)
    await world.start()
    await world.plan("stop", [stage("a", "one", "two"), stage("b", "three")])
    await world.task_in("stop-a-one", "Closed")
    await world.task_in("stop-a-two", "InProgress")
    await world.change(PLANS, "stop", cancel=CANCEL)
    await world.task_in("stop-b-three", "Cancelled")
    plan = await world.until(PLANS, "stop", lambda p: p["status"]["phase"] == "Cancelling")
    assert "endedAt" not in plan["status"]
    agent.may_end.set()
    plan = await world.until(PLANS, "stop", lambda p: p["status"]["phase"] == "Cancelled")
    assert condition(plan, "Succeeded")["status"] == "False"
    states = {name: state_of(task) for name, task in (await world.all(TASKS)).items()}
    assert states == {
        "stop-a-one": "Closed",
        "stop-a-two": "Cancelled",
        "stop-b-three": "Cancelled",
    }
    assert (await world.get(TASKS, "stop-a-two"))["spec"]["cancel"] == CANCEL
    assert world.kubelet.remote.refs[MAIN] == plan["status"]["integration"]["targetSha"]
