"""Somebody pushes to the branch of an open pull request, with the real controllers."""

from __future__ import annotations

from typing import Any

from bernstein.kube.resource import Object
from tests.control_plane.controllers.crash.stories import is_open, on_forge
from tests.control_plane.controllers.kubelet import ends, exited, succeed
from tests.control_plane.controllers.remote import sha
from tests.control_plane.controllers.world import World, stage
from tests.control_plane.objects import PLANS, TASKS


def pushed(obj: Object) -> dict[str, Any]:
    return dict((obj["status"].get("delivery") or {}).get("pushed") or {})


async def proposed(world: World) -> Object:
    await on_forge(world, pullRequest={"lookSeconds": 5, "onNewCommits": "Verify"})
    await world.plan("shop", [stage("a", "one")])
    return await world.until(PLANS, "shop", is_open)


async def test_what_a_person_pushes_is_verified_and_merged(world: World) -> None:
    await world.start()
    remote = world.kubelet.remote
    await proposed(world)
    (pull,) = remote.pulls
    theirs = remote.push(pull)

    await world.until(
        PLANS, "shop", lambda p: is_open(p) and p["status"]["delivery"]["sha"] == theirs
    )
    assert remote.refs[f"refs/heads/{pull.head}"] == theirs, "nothing is pushed over it"
    remote.merge(pull)
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    assert (plan["status"]["delivery"]["sha"], plan["status"]["delivery"]["state"]) == (
        *(theirs, "Merged"),
    )
    assert plan["status"]["verification"]["sha"] == theirs
    assert (pushed(plan)["times"], pushed(plan)["holds"]) == (1, True)
    assert remote.pulls == [pull], "a second one is never opened"


async def test_what_does_not_pass_is_told_and_what_was_verified_can_be_put_back(
    world: World,
) -> None:
    await world.start()
    remote = world.kubelet.remote
    before = (await proposed(world))["status"]["delivery"]["sha"]
    world.kubelet.on("shop-lint-[0-9]", ends("Failed", check=exited(1, "F401 unused import")))
    (pull,) = remote.pulls
    theirs = remote.push(pull)

    plan = await world.until(PLANS, "shop", lambda p: "refused" in pushed(p))
    assert pushed(plan) == {"times": 1, "refused": theirs, "message": pushed(plan)["message"]}
    assert "which does not pass: lint (Failed)" in pushed(plan)["message"]
    assert (plan["status"]["phase"], plan["status"]["waiting"]["reason"]) == (
        *("Stalled", "PullRequestChanged"),
    )
    assert plan["status"]["delivery"]["sha"] == before

    remote.refs[f"refs/heads/{pull.head}"] = before
    await world.until(PLANS, "shop", is_open)
    world.kubelet.on("shop-lint-[0-9]", succeed)
    again = remote.push(pull)
    assert again == theirs, "the same as before: it was refused, and is not taken again"
    await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Stalled")
    remote.refs[f"refs/heads/{pull.head}"] = before
    await world.until(PLANS, "shop", is_open)
    remote.merge(pull)
    plan = await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    verified = [c for c in plan["status"]["conditions"] if c["type"] == "Verified"]
    assert verified == [], "the no was to something else"
    assert pushed(plan)["times"] == 1


async def test_so_is_what_a_person_pushes_to_that_of_a_task(world: World) -> None:
    await world.start()
    remote = world.kubelet.remote
    await on_forge(world, pullRequest={"lookSeconds": 5, "onNewCommits": "Verify", "per": "Task"})
    await world.plan("shop", [stage("a", "one")])
    await world.until(TASKS, "shop-a-one", is_open)
    (pull,) = remote.pulls
    theirs = remote.push(pull)

    await world.until(
        TASKS, "shop-a-one", lambda t: is_open(t) and t["status"]["delivery"]["sha"] == theirs
    )
    world.kubelet.on("shop-a-one-s1-lint-[0-9]", ends("Failed", check=exited(1, "F401")))
    bad = remote.push(pull)
    task = await world.until(TASKS, "shop-a-one", lambda t: pushed(t).get("refused") == bad)
    assert (task["status"]["state"], task["status"]["attempt"]) == ("Done", 1)
    assert task["status"]["waiting"]["reason"] == "PullRequestChanged"

    remote.refs[f"refs/heads/{pull.head}"] = theirs
    await world.until(TASKS, "shop-a-one", is_open)
    remote.merge(pull)
    await world.task_in("shop-a-one", "Closed")
    task = await world.get(TASKS, "shop-a-one")
    assert (task["status"]["delivery"]["sha"], task["status"]["attempt"]) == (theirs, 1)


async def test_of_two_repositories_each_goes_on_with_what_was_pushed_there(world: World) -> None:
    await world.start()
    remote = world.kubelet.remote
    remote.refs["refs/heads/pages"] = sha("first page")
    await on_forge(
        world, ("site", "pages"), pullRequest={"lookSeconds": 5, "onNewCommits": "Verify"}
    )
    build = stage("a", "one", "two")
    build["steps"][1]["repo"] = "site"
    await world.plan("shop", [build], repos=[{"path": "app"}, {"path": "site"}])

    def are(plan: Object, **heads: str) -> bool:
        rows = {row["name"]: row.get("delivery") or {} for row in plan["status"]["repositories"]}
        states = {row.get("state") for row in rows.values()}
        return states == {"PullRequestOpen"} and all(
            rows[name]["sha"] == head for name, head in heads.items()
        )

    await world.until(PLANS, "shop", are)
    (site,) = [pull for pull in remote.pulls if pull.base == "pages"]
    theirs = remote.push(site)
    await world.until(PLANS, "shop", lambda p: are(p, site=theirs))
    for pull in remote.pulls:
        remote.merge(pull)
    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    rows = [row["delivery"].get("pushed") for row in plan["status"]["repositories"]]
    assert [bool(row) for row in rows] == [False, True]
