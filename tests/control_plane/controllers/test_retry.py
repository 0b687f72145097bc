"""Requests to retry, answered by the engine in a real API server."""

from __future__ import annotations

from bernstein.kube.resource import SELF_SUBJECT_REVIEWS, Object
from tests.control_plane.controllers.kubelet import works
from tests.control_plane.controllers.world import World, condition, stage, state_of
from tests.control_plane.objects import PLANS, TASKS


async def request(world: World) -> Object:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    user = (await world.admin.create(SELF_SUBJECT_REVIEWS, review))["status"]["userInfo"]
    return {"id": "r-1", "verb": "Retry", "by": user["username"], "reason": "the key was wrong"}


async def test_a_plan_that_failed_succeeds_in_another_round_of_the_same_tasks(
    world: World,
) -> None:
    await world.start()
    fails = works(outcome="AgentFailed", message="it cannot be done")
    world.kubelet.on("web-a-two-s*", fails, fails, fails, fails, works())
    await world.plan("web", [stage("a", "one", "two")])
    plan = await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Failed")
    assert condition(plan, "Succeeded")["status"] == "False"
    before = {name: task["metadata"]["uid"] for name, task in (await world.all(TASKS)).items()}
    assert "git fetch" in condition(plan, "Stalled")["message"]

    wanted = await request(world)
    await world.change(PLANS, "web", requests=[wanted])

    plan = await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Succeeded")
    assert {n: t["metadata"]["uid"] for n, t in (await world.all(TASKS)).items()} == before
    (answer,) = plan["status"]["requests"]
    assert (answer["answer"], answer["by"]) == ("Done", wanted["by"])
    task = await world.get(TASKS, "web-a-two")
    assert (state_of(task), task["status"]["attempt"]) == ("Closed", 5)
    assert task["status"]["round"] == {"number": 1, "since": 4}
    assert condition(plan, "Stalled") == {}


async def test_a_request_that_was_answered_is_not_answered_by_the_next_leader(
    world: World,
) -> None:
    first = await world.start()
    await world.task("one")
    await world.task_in("one", "Closed")
    await world.change(TASKS, "one", requests=[await request(world)])
    task = await world.until(TASKS, "one", lambda t: t["status"].get("requests"))
    await first.stop()

    await world.start()
    await world.at_rest()

    assert (await world.get(TASKS, "one"))["status"]["requests"] == task["status"]["requests"]
    assert task["status"]["requests"][0]["reason"] == "NothingToRetry"
