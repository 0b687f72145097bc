"""What people ask of a Task, answered by the real engine: once, whatever crashes."""

from __future__ import annotations

from typing import Any

from bernstein.kube.resource import JOBS, Object
from tests.control_plane.controllers.kubelet import Pod, ends, exited, nothing, works
from tests.control_plane.controllers.world import World, condition, stage, state_of
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS


def request(verb: str, by: str, number: int = 1) -> Object:
    return {"id": f"r-{number}", "verb": verb, "by": by, "reason": "it runs wild"}


async def ask(world: World, user: str, *verbs: str, name: str = "one") -> None:
    requests = [request(verb, user, n) for n, verb in enumerate(verbs, 1)]
    await world.change(TASKS, name, requests=requests)


async def answered(world: World, number: int = 1, name: str = "one") -> list[tuple[str, str]]:
    task = await world.until(
        TASKS, name, lambda t: len(t["status"].get("requests") or ()) == number
    )
    return [(answer["verb"], answer["answer"]) for answer in task["status"]["requests"]]


async def works_on(pod: Pod) -> None:
    """Until its pod is deleted. Whoever waits for the server, waits in vain: there is none."""
    await pod.start()


def moves(task: Object) -> list[tuple[str, str, str]]:
    return [(m["toState"], m["actor"], m["reason"]) for m in task["status"]["history"]]


# --- Kill -----------------------------------------------------------------------------------------


async def test_a_killed_agent_is_followed_by_another_one_with_no_server_to_ask(
    world: World, user: str
) -> None:
    world.kubelet.on("one-s1", works_on)
    await world.start()
    await world.task("one")
    await world.task_in("one", "InProgress")

    await ask(world, user, "Kill", "Kill")

    task = await world.task_in("one", "Closed")
    assert await answered(world, 2) == [("Kill", "Done"), ("Kill", "Refused")]
    assert ("Orphaned", user, "Killed") in moves(task)
    assert ("Open", user, "Killed") in moves(task)
    assert [(a["reason"], a["counted"]) for a in task["status"]["attempts"]] == [
        ("Killed", False),
        ("Succeeded", True),
    ]
    session = await world.get(AGENT_SESSIONS, "one-s1")
    assert session["spec"]["stop"] == {"reason": "Killed"}
    assert await world.sessions() == ["one-s1", "one-s2"]


# --- Unclaim --------------------------------------------------------------------------------------


async def test_a_claim_is_given_back_before_the_agent_begins(world: World, user: str) -> None:
    async def bound(pod: Pod) -> None:
        await pod.bind()

    world.kubelet.on("shop-a-one-s1", bound)
    await world.start()
    await world.plan("shop", [stage("a", "one")])
    await world.until(JOBS, "shop-a-one-s1", lambda j: j["status"].get("active"))
    await world.change(PLANS, "shop", suspend=True)

    await ask(world, user, "Unclaim", name="shop-a-one")

    assert await answered(world, name="shop-a-one") == [("Unclaim", "Done")]
    task = await world.task_in("shop-a-one", "Open")
    assert moves(task)[-1] == ("Open", user, "Unclaimed")
    await world.gone(JOBS, "shop-a-one-s1")
    assert task["status"]["attempt"] == 0


async def test_of_who_gives_a_starting_session_back_and_who_kills_it_the_first_counts(
    world: World, user: str
) -> None:
    world.kubelet.on("one-s1", Pod.bind)
    await world.start()
    await world.task("one")
    await world.until(JOBS, "one-s1", lambda j: j["status"].get("active"))

    await ask(world, user, "Unclaim", "Kill")

    assert await answered(world, 2) == [("Unclaim", "Done"), ("Kill", "Refused")]
    task = await world.task_in("one", "Closed")
    assert ("Open", user, "Unclaimed") in moves(task)
    assert await world.sessions() == ["one-s1", "one-s2"]
    told = [
        write.body["spec"]["stop"]["reason"]
        for write in await world.writes()
        if (write.resource, write.name) == ("agentsessions", "one-s1")
        and "stop" in (write.body or {}).get("spec", {})
        and write.verb == "patch"
    ]
    assert set(told) == {"Unclaimed"}


# --- Blocked --------------------------------------------------------------------------------------


def says(**final: Any) -> Any:
    """An agent that waits for something."""
    return works(outcome="Blocked", message="the API", **final)


async def test_a_task_goes_on_when_the_one_that_it_waits_for_is_closed(world: World) -> None:
    world.kubelet.on("shop-a-one-s1", says(waits_for=("shop-a-two", "elses")))
    await world.task("elses", dependsOn=["never"])
    await world.start()
    await world.plan("shop", [stage("a", "one", "two")], maxAgents=1)

    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")

    task = await world.get(TASKS, "shop-a-one")
    states = [to for to, _, _ in moves(task)]
    assert states[:6] == ["Open", "Claimed", "InProgress", "Blocked", "Open", "Claimed"]
    assert ("Open", "operator", "Unblocked") in moves(task)
    assert [a["counted"] for a in task["status"]["attempts"]] == [False, True]
    session = await world.get(AGENT_SESSIONS, "shop-a-one-s1")
    assert session["status"]["outcome"]["waitsFor"] == ["shop-a-two", "elses"]


async def test_a_plan_stands_still_until_somebody_unblocks_its_task(
    world: World, user: str
) -> None:
    world.kubelet.on("shop-a-one-s1", says())
    await world.start()
    await world.plan("shop", [stage("a", "one")])
    plan = await world.stalled(PLANS, "shop", "Blocked")
    told = condition(plan, "Stalled")["message"]
    assert "Task 'shop-a-one': its agent waits for something; status.blocked" in told
    assert "the API" not in told

    await ask(world, user, "Unblock", name="shop-a-one")

    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    task = await world.get(TASKS, "shop-a-one")
    assert ("Open", user, "Unblocked") in moves(task)


async def test_a_blocked_task_is_cancelled(world: World) -> None:
    world.kubelet.on("one-s1", says())
    await world.start()
    await world.task("one")
    await world.task_in("one", "Blocked")

    await world.change(TASKS, "one", cancel={"reason": "not needed"})

    assert state_of(await world.task_in("one", "Cancelled")) == "Cancelled"
    assert world.kubelet.remote.landed == []


# --- Verify and Remerge ---------------------------------------------------------------------------


async def test_failed_work_is_judged_and_stays_failed(world: World, user: str) -> None:
    await world.project()
    world.kubelet.on("one-s1-lint-0", ends("Failed", check=exited(1, "F401")))
    await world.start()
    await world.task("one", maxRetries=0)
    failed = await world.task_in("one", "Failed")

    await ask(world, user, "Verify")

    assert await answered(world) == [("Verify", "Done")]
    task = await world.get(TASKS, "one")
    assert (state_of(task), task["status"]["verification"]["passed"]) == ("Failed", True)
    assert moves(task) == moves(failed)
    assert world.kubelet.remote.landed == []


async def test_done_work_is_judged_again_before_it_lands(world: World, user: str) -> None:
    await world.project()
    world.kubelet.on("one-s1-lint-0", nothing)
    await world.start()
    await world.task("one")
    await world.until(JOBS, "one-s1-lint-0", lambda j: j["status"].get("active"))

    await ask(world, user, "Verify")

    task = await world.task_in("one", "Closed")
    assert await answered(world) == [("Verify", "Done")]
    assert task["status"]["verification"]["round"] == 1
    await world.gone(JOBS, "one-s1-lint-0")


async def test_two_different_requests_at_once_are_both_answered(world: World, user: str) -> None:
    await world.start()
    await world.task("one", dependsOn=["never"])
    await world.task_in("one", "Open")

    await ask(world, user, "Remerge", "Unclaim", "Unblock", "Verify", "Kill")

    assert await answered(world, 5) == [
        (verb, "Refused") for verb in ("Remerge", "Unclaim", "Unblock", "Verify", "Kill")
    ]
    task = await world.get(TASKS, "one")
    assert [a["reason"] for a in task["status"]["requests"]] == [
        *("NothingToMerge", "NotClaimed", "NotBlocked", "NothingToVerify", "NothingToKill")
    ]
