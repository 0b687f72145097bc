"""People decide, on a real API server."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import dump
from bernstein.api.pod import Changed
from bernstein.api.programs.merge import PrepareResult
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.controllers.kubelet import Pod, exited
from tests.control_plane.controllers.remote import MAIN
from tests.control_plane.controllers.world import World, condition, stage, state_of
from tests.control_plane.objects import APPROVALS, PLANS, PROJECTS, TASKS

ALWAYS = {"approval": {"result": "Always"}}
KINDS = {"task": TASKS, "plan": PLANS}


async def pending(world: World, about: str) -> Object:
    """The Approval that asks about this Task or Plan."""

    async def asked(kind: Any, name: str) -> str:
        found = await world.until(
            kind, name, lambda o: "decision" not in o["status"].get("approval", {"decision": ""})
        )
        return str(found["status"]["approval"]["name"])

    kind, _, name = about.partition("/")
    approval = await asked(KINDS[kind], name)
    return await world.until(APPROVALS, approval, lambda a: state_of(a) == "Pending")


async def made(world: World, about: str) -> None:
    """This Plan, of one step, or this Task without a Plan."""
    kind, _, name = about.partition("/")
    if kind == "plan":
        await world.plan(name, [stage("build", "one")])
    else:
        await world.task(name)


async def decide(world: World, approval: Object, user: str, decision: str, **more: str) -> None:
    spec = {"decision": decision, "decidedBy": user, **more}
    await world.change(APPROVALS, approval["metadata"]["name"], **spec)


async def test_work_lands_once_a_person_has_approved_it(world: World, user: str) -> None:
    await world.project(**ALWAYS)
    await world.start()
    await world.task("one")
    approval = await pending(world, "task/one")

    waits = await world.task_in("one", "PendingApproval")
    assert condition(waits, "Reconciling")["reason"] == "AwaitingApproval"
    assert "one-s1-land-1" not in world.kubelet.ran
    await decide(world, approval, user, "Approve")

    task = await world.task_in("one", "Closed")
    assert task["status"]["delivery"]["sha"] == approval["spec"]["asks"]["sha"]
    assert task["status"]["delivery"]["sha"] == world.kubelet.remote.refs[MAIN]
    moves = {m["reason"]: m["actor"] for m in task["status"]["history"]}
    assert moves["Approved"] == user
    name = approval["metadata"]["name"]
    over = await world.until(APPROVALS, name, lambda a: state_of(a) == "Approved")
    assert condition(over, "Succeeded")["status"] == "True"
    assert over["status"]["shown"]["filesChanged"] == 1


async def test_work_that_is_sent_back_is_done_again_and_asked_about_anew(
    world: World, user: str
) -> None:
    await world.project(**ALWAYS)
    await world.start()
    await world.task("one")
    first = await pending(world, "task/one")
    await decide(world, first, user, "Retry", reason="use the other library")

    name = first["metadata"]["name"]
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Rejected")
    task = await world.until(
        TASKS, "one", lambda t: t["status"].get("approval", {}).get("name") != name
    )

    assert task["status"]["attempt"] == 2
    second = await pending(world, "task/one")
    assert second["spec"]["asks"]["attempt"] == 2
    prompt = await world.sessions()
    assert prompt == ["one-s1", "one-s2"]


@pytest.mark.parametrize("moved_base", ["Ask", "Keep"])
async def test_approved_work_is_verified_again_on_a_moved_base_and_asked_about_as_the_policy_says(
    world: World, user: str, moved_base: str
) -> None:
    remote = world.kubelet.remote
    await world.project(approval={"result": "Always", "movedBase": moved_base})
    await world.start()
    await world.task("one")
    first = await pending(world, "task/one")
    moved = remote.commit(MAIN, remote.refs[MAIN])  # somebody else's

    await decide(world, first, user, "Approve")

    asked = [first]
    if moved_base == "Ask":
        await is_void(world, first)
        asked.append(await pending(world, "task/one"))
        assert asked[1]["spec"]["asks"]["base"] == moved
        assert asked[1]["spec"]["asks"]["attempt"] == 1
        assert remote.refs[MAIN] == moved
        await decide(world, asked[1], user, "Approve")
    task = await world.task_in("one", "Closed")
    judged = task["status"]["verification"]
    assert (judged["base"], judged["passed"]) == (moved, True)
    assert remote.refs[MAIN] == judged["sha"] != first["spec"]["asks"]["sha"]
    assert set(await world.all(APPROVALS)) == {each["metadata"]["name"] for each in asked}


async def test_an_approval_is_void_once_there_is_another_attempt(world: World, user: str) -> None:
    async def conflicts(pod: Pod) -> None:
        await pod.start()
        conflict = PrepareResult(remote.refs[MAIN], "", "", Changed(), ("a.py",))
        await pod.end("Succeeded", {"prepare": exited(message=dump(conflict))})

    remote = world.kubelet.remote
    world.kubelet.on("one-s1-prepare-*", conflicts)
    await world.project(**ALWAYS)
    await world.start()
    await world.task("one")
    first = await pending(world, "task/one")
    moved = remote.commit(MAIN, remote.refs[MAIN])  # somebody else's, on the same lines

    await decide(world, first, user, "Approve")

    await is_void(world, first)
    second = await pending(world, "task/one")
    assert second["spec"]["asks"]["attempt"] == 2
    assert remote.refs[MAIN] == moved
    assert await world.sessions() == ["one-s1", "one-s2"]


async def is_void(world: World, approval: Object) -> None:
    name = approval["metadata"]["name"]
    await world.until(APPROVALS, name, lambda found: state_of(found) == "Void")


async def test_rejected_work_ends_and_nothing_is_merged(world: World, user: str) -> None:
    await world.project(**ALWAYS)
    await world.start()
    await world.task("one")
    approval = await pending(world, "task/one")
    before = world.kubelet.remote.refs[MAIN]

    await decide(world, approval, user, "Reject", reason="we do not want this")

    task = await world.task_in("one", "Cancelled")
    assert condition(task, "Succeeded")["reason"] == "Rejected"
    assert world.kubelet.remote.refs[MAIN] == before


async def test_one_that_is_deleted_undecided_is_made_again(world: World, user: str) -> None:
    await world.project(**ALWAYS)
    await world.start()
    await world.task("one")
    first = await pending(world, "task/one")
    name, uid = first["metadata"]["name"], first["metadata"]["uid"]

    await world.delete(APPROVALS, name)

    again = await world.until(APPROVALS, name, lambda a: a["metadata"]["uid"] != uid)
    await decide(world, again, user, "Approve")
    await world.task_in("one", "Closed")
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Approved")
    await world.delete(APPROVALS, name)
    await world.at_rest()
    assert name not in await world.all(APPROVALS)


async def test_time_rejects_and_never_approves(world: World) -> None:
    await world.project(approval={"result": "Always", "expiresAfterSeconds": 60})
    await world.start()
    await world.task("one")
    approval = await pending(world, "task/one")

    assert "expiresAt" in approval["status"]
    task = await world.task_in("one", "Cancelled", 90)
    assert condition(task, "Succeeded")["reason"] == "ApprovalExpired"
    name = approval["metadata"]["name"]
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Expired")


async def test_a_plan_begins_once_a_person_has_approved_it(world: World, user: str) -> None:
    await world.project(approval={"plan": "Always"})
    await world.start()
    await world.plan("web", [stage("build", "one")])
    approval = await pending(world, "plan/web")
    (name,) = await world.all(TASKS)
    await world.task_in(name, "Planned")
    assert world.kubelet.ran == []

    await decide(world, approval, user, "Approve")

    await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Succeeded")
    assert world.kubelet.ran[0] == "web-begin-0"


async def test_a_rejected_plan_ends_with_its_tasks(world: World, user: str) -> None:
    await world.project(approval={"plan": "Always"})
    await world.start()
    await world.plan("web", [stage("build", "one")])
    await decide(world, await pending(world, "plan/web"), user, "Reject")

    plan = await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Cancelled")

    assert condition(plan, "Succeeded")["reason"] == "Rejected"
    (name,) = await world.all(TASKS)
    await world.task_in(name, "Cancelled")
    assert world.kubelet.ran == []


async def test_a_question_about_a_plan_that_comes_back_can_be_decided(
    world: World, user: str
) -> None:
    await world.project(approval={"plan": "Always"})
    await world.start()
    await world.plan("web", [stage("build", "one")])
    first = await pending(world, "plan/web")
    await world.change(PLANS, "web", budget="500")
    await is_void(world, first)

    await world.change(PLANS, "web", budget=None)

    asks = first["spec"]["asks"]
    await world.until(PLANS, "web", lambda p: p["status"]["approval"]["asks"] == asks)
    again = await pending(world, "plan/web")
    assert again["metadata"]["name"] != first["metadata"]["name"]
    await decide(world, again, user, "Approve")
    await world.until(PLANS, "web", lambda p: p["status"].get("phase") == "Succeeded")


async def test_a_question_ends_with_what_is_cancelled(world: World) -> None:
    await world.project(approval={"plan": "Always", "result": "Always"})
    await world.start()
    await world.plan("web", [stage("build", "one")])
    await world.task("alone")
    asked = [await pending(world, about) for about in ("plan/web", "task/alone")]

    await world.change(PLANS, "web", cancel={"reason": "not needed"})
    await world.change(TASKS, "alone", cancel={"reason": "not needed"})

    for approval in asked:
        await is_void(world, approval)
    task = await world.task_in("alone", "Cancelled")
    assert "approval" not in task["status"]


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
@pytest.mark.parametrize("kind", ["plan", "task"])
async def test_an_approval_goes_with_what_it_is_about(
    world: World, user: str, kind: str, propagation: str
) -> None:
    """The API server's own garbage collector takes it, and nobody makes another one."""
    await world.project(approval={"plan": "Always", "result": "Always"})
    await world.start()
    names = ("decided", "undecided", "stays")
    for name in names:
        await made(world, f"{kind}/{name}")
    asked = {name: await pending(world, f"{kind}/{name}") for name in names}
    approvals = {name: approval["metadata"]["name"] for name, approval in asked.items()}
    await decide(world, asked["decided"], user, "Reject")
    await world.until(APPROVALS, approvals["decided"], lambda a: state_of(a) == "Rejected")

    for name in ("decided", "undecided"):
        await world.delete(KINDS[kind], name, propagation)

    for name in ("decided", "undecided"):
        await world.gone(KINDS[kind], name)
        await world.gone(APPROVALS, approvals[name])
    await world.at_rest()
    assert set(await world.all(APPROVALS)) == {approvals["stays"]}


@pytest.mark.parametrize("about", ["plan/web", "task/alone"])
async def test_work_of_before_a_rule_about_authors_goes_on_once_somebody_stands_for_it(
    world: World, user: str, about: str
) -> None:
    policy = {"plan": "Always", "result": "Always"}
    word, _, name = about.partition("/")
    kind = KINDS[word]
    await world.project(approval=policy)
    await world.start()
    await made(world, about)
    before = await pending(world, about)

    await world.change(PROJECTS, "default", approval=policy | {"approverIsNotAuthor": True})
    await world.stalled(kind, name, "AuthorMissing")
    await is_void(world, before)
    await world.change(kind, name, author=user)

    asked = await pending(world, about)
    assert asked["metadata"]["name"] != before["metadata"]["name"]
    assert asked["spec"]["asks"]["notBy"] == user
    with pytest.raises(Invalid, match="the author may not decide"):
        await decide(world, asked, user, "Approve")
