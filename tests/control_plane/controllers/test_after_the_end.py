"""After the end: another round for what has failed, and what goes when its time is over."""

from __future__ import annotations

from bernstein.kube.resource import CONFIG_MAPS, JOBS, PODS, Object
from tests.control_plane.controllers.kubelet import waits, works
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import QUIET, World, condition, stage, state_of
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


async def test_of_sessions_that_never_started_an_agent_the_newest_stay(world: World) -> None:
    await world.project(gates=QUIET, retention={"unstartedSessions": 1})
    missing = waits("agent", "ErrImagePull", "no such image")
    for number in range(1, 4):
        world.kubelet.on(f"one-s{number}", missing)
    await world.start()
    await world.task("one")

    await world.until(TASKS, "one", lambda t: t["status"].get("sessions", 0) >= 3, 60)
    await world.gone(AGENT_SESSIONS, "one-s1", 60)
    await world.gone(CONFIG_MAPS, "one-s1")
    await world.gone(AGENT_SESSIONS, "one-s2", 60)

    task = await world.task_in("one", "Closed", 60)
    tried, ran = task["status"]["attempts"]
    assert (tried["session"], tried["reason"], tried["times"]) == ("one-s3", "ImagePullFailed", 3)
    assert (ran["session"], task["status"]["sessions"]) == ("one-s4", 4)
    assert {*await world.all(AGENT_SESSIONS)} == {"one-s3", "one-s4"}


def request(user: str, verb: str = "Retry") -> Object:
    return {"id": "r-1", "verb": verb, "by": user, "reason": "the key was wrong"}


async def test_a_plan_that_failed_succeeds_in_another_round_of_the_same_tasks(
    world: World, user: str
) -> None:
    await world.start()
    fails = works(outcome="AgentFailed", message="it cannot be done")
    for number in range(1, 5):
        world.kubelet.on(f"web-a-two-s{number}", fails)
    await world.plan("web", [stage("a", "one", "two")])
    plan = await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Failed")
    assert condition(plan, "Succeeded")["status"] == "False"
    before = {name: task["metadata"]["uid"] for name, task in (await world.all(TASKS)).items()}
    assert "git fetch" in condition(plan, "Stalled")["message"]

    wanted = request(user)
    await world.change(PLANS, "web", requests=[wanted])

    plan = await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Succeeded")
    assert {n: t["metadata"]["uid"] for n, t in (await world.all(TASKS)).items()} == before
    (answer,) = plan["status"]["requests"]
    assert (answer["answer"], answer["by"]) == ("Done", wanted["by"])
    task = await world.get(TASKS, "web-a-two")
    assert (state_of(task), task["status"]["attempt"]) == ("Closed", 5)
    assert task["status"]["round"] == {"number": 1, "since": 4}
    assert condition(plan, "Stalled") == {}


async def test_what_is_closed_of_a_plan_that_failed_is_delivered_without_the_rest(
    world: World, user: str
) -> None:
    await world.start()
    fails = works(outcome="AgentFailed", message="it cannot be done")
    for number in range(1, 5):
        world.kubelet.on(f"web-a-two-s{number}", fails)
    await world.plan("web", [stage("a", "one", "two"), stage("b", "three")])
    plan = await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Failed")
    assert "deliver web --partial" in condition(plan, "Stalled")["message"]
    tip = plan["status"]["integration"]["sha"]
    assert world.kubelet.remote.refs[MAIN] != tip

    await world.change(PLANS, "web", requests=[request(user, "DeliverPartial")])

    plan = await world.until(
        PLANS, "web", lambda p: p["status"].get("phase") == "DeliveredPartially"
    )
    assert world.kubelet.remote.refs[MAIN] == tip
    succeeded = condition(plan, "Succeeded")
    assert (succeeded["status"], succeeded["reason"]) == ("False", "DeliveredPartially")
    assert condition(plan, "Stalled") == {}
    assert condition(plan, "Verified")["status"] == "True"
    (answer,) = plan["status"]["requests"]
    assert (answer["answer"], answer["message"]) == ("Done", "1 of 3 Tasks delivered")
    states = {name: state_of(task) for name, task in (await world.all(TASKS)).items()}
    assert states == {"web-a-one": "Closed", "web-a-two": "Failed", "web-b-three": "Cancelled"}


async def test_a_request_that_was_answered_is_not_answered_by_the_next_leader(
    world: World, user: str
) -> None:
    first = await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")
    await world.change(TASKS, "one", requests=[request(user)])
    task = await world.until(TASKS, "one", lambda t: t["status"].get("requests"))
    await first.stop()

    await world.start()
    await world.at_rest()

    assert (await world.get(TASKS, "one"))["status"]["requests"] == task["status"]["requests"]
    assert task["status"]["requests"][0]["reason"] == "NothingToRetry"
