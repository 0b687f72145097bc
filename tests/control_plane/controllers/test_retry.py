"""Requests to retry, answered by the engine in a real API server."""

from __future__ import annotations

from bernstein.kube.resource import Object
from tests.control_plane.controllers.kubelet import works
from tests.control_plane.controllers.world import World, condition, stage, state_of
from tests.control_plane.objects import PLANS, TASKS


def request(user: str) -> Object:
    return {"id": "r-1", "verb": "Retry", "by": user, "reason": "the key was wrong"}


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
