"""Plans of workflows on a real API server: in several repositories, cancelled, retried, in part."""

from __future__ import annotations

import asyncio
from typing import Any

from bernstein.kube.resource import CONFIG_MAPS, JOBS, Object
from tests.background import eventually
from tests.control_plane.controllers.projects.test_repositories import repositories
from tests.control_plane.controllers.remote import MAIN, sha
from tests.control_plane.controllers.workflows.teller import PLAN, Teller, order
from tests.control_plane.controllers.world import QUIET, World, condition, state_of
from tests.control_plane.objects import APPROVALS, PLANS, TASKS
from tests.unit.core.plans.workflows.stories.approvals import PIPELINE
from tests.unit.core.plans.workflows.stories.story import Story

PAGES = "refs/heads/pages"
_CHAIN = "nodes: {a: , b: {depends_on: [a]}, c: {depends_on: [b]}}"


async def _phase(world: World, phase: str) -> Object:
    return await world.until(PLANS, PLAN, lambda p: p["status"].get("phase") == phase)


def states(plan: Object) -> dict[str, str]:
    return {node["name"]: node["state"] for node in plan["status"]["workflow"]["nodes"]}


async def _asked(world: World) -> str:
    """The Approval of a phase, once people are asked about one."""

    def asks(plan: Object) -> Any:
        return [p for p in plan["status"]["workflow"]["phases"] if "decision" not in p["approval"]]

    plan = await world.until(PLANS, PLAN, asks)
    name: str = asks(plan)[0]["approval"]["name"]
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Pending")
    return name


async def test_all_problems_of_a_workflow_are_told_at_once_and_nothing_is_started(
    world: World, user: str
) -> None:
    await world.start()
    said = """
    phases: [build]
    nodes:
      a: {phase: build, repo: nowhere}
      b: {phase: build, depends_on: [aa, {source: c, condition: "stats"}]}
      c: {phase: build, depends_on: [b]}
    """

    await Teller(world, Story("wrong", said, order=""), user).apply()

    plan = await world.stalled(PLANS, PLAN, "PlanInvalid")
    told = condition(plan, "Validated")["message"]
    assert "nodes.a.repo" in told
    assert "depends on unknown node 'aa'" in told
    assert "unknown name 'stats', did you mean 'status'?" in told
    assert "Cycle detected: b -> c -> b" in told
    assert plan["status"]["phase"] == "Invalid"
    for resource in (TASKS, APPROVALS, JOBS):
        assert await world.all(resource) == {}


async def test_nodes_work_in_two_repositories_and_each_is_delivered(
    world: World, user: str
) -> None:
    world.kubelet.remote.refs[PAGES] = sha("first page")
    listed = repositories("web")
    listed[1]["branch"] = "pages"
    await world.project(gates=QUIET, repositories=listed)
    await world.start()
    said = "nodes: {a: , b: {repo: web, depends_on: [a]}, c: {depends_on: [b]}}"
    teller = Teller(world, Story("two", said, order="a#1 b#1 c#1"), user)
    await teller.apply(repos=[{"path": listed[0]["name"]}, {"path": "web"}])

    plan = await teller.tell()

    status, remote = plan["status"], world.kubelet.remote
    assert (status["phase"], order(plan)) == ("Succeeded", "a#1 b#1 c#1")
    assert [row["repository"] for row in status["tasks"]] == [
        listed[0]["name"],
        "web",
        listed[0]["name"],
    ]
    shas = [row["delivery"]["sha"] for row in status["repositories"]]
    assert shas == [remote.refs[MAIN], remote.refs[PAGES]]
    repos = {n: t["spec"]["repo"] for n, t in (await world.all(TASKS)).items()}
    assert repos == {"flow-a-i1": "app", "flow-b-i1": "web", "flow-c-i1": "app"}


async def test_a_phase_that_is_rejected_cancels_the_plan_and_one_that_is_deleted_asks_again(
    world: World, user: str
) -> None:
    await world.start()
    teller = Teller(world, Story("the pipeline", PIPELINE, order="decompose#1"), user)
    await teller.apply()
    telling = asyncio.create_task(teller.tell())
    turn = teller._turn("flow-decompose-i1")
    turn.set()
    await world.task_in("flow-decompose-i1", "Closed")
    telling.cancel()
    name = await _asked(world)
    plan = await world.until(PLANS, PLAN, lambda p: condition(p, "Reconciling"))
    assert condition(plan, "Reconciling")["reason"] == "AwaitingApproval"
    await world.delete(APPROVALS, name)
    assert await _asked(world) == name
    approval = await world.get(APPROVALS, name)
    assert approval["spec"]["asks"]["phase"] == "implement"

    told = {"decision": "Reject", "decidedBy": user, "reason": "not this way"}
    await world.change(APPROVALS, name, **told)

    plan = await _phase(world, "Cancelled")
    assert condition(plan, "Succeeded")["reason"] == "Rejected"
    assert states(plan)["decompose"] == "Done"
    assert {states(plan)[n] for n in ("build-api", "run-tests", "deploy")} == {"Cancelled"}
    assert set(await world.all(TASKS)) == {"flow-decompose-i1"}
    await world.until(APPROVALS, name, lambda a: state_of(a) == "Rejected")


async def test_a_cancelled_plan_ends_the_run_at_work_and_begins_no_other(
    world: World, user: str
) -> None:
    await world.start()
    teller = Teller(world, Story("a chain", _CHAIN, order="", ends={"a": ["cancelled"]}), user)
    await teller.apply()
    await world.task_in("flow-a-i1", "InProgress")

    await world.change(PLANS, PLAN, cancel={"reason": "not needed"})
    teller._turn("flow-a-i1").set()

    plan = await _phase(world, "Cancelled")
    assert set(states(plan).values()) == {"Cancelled"}
    assert set(await world.all(TASKS)) == {"flow-a-i1"}
    assert MAIN not in [ref for ref, _ in world.kubelet.remote.landed]


async def test_a_failed_run_gets_another_round_and_the_workflow_goes_on(
    world: World, user: str
) -> None:
    await world.start()
    story = Story("a chain", _CHAIN, order="a#1 b#1", ends={"b": ["failed"]})
    teller = Teller(world, story, user)
    await teller.apply()
    plan = await teller.tell()
    assert (plan["status"]["phase"], order(plan)) == ("Failed", "a#1 b#1")
    assert states(plan)["c"] == "Skipped"
    teller.story = Story("a chain", _CHAIN, order="a#1 b#1 c#1")
    asks = {"id": "r-1", "verb": "Retry", "by": user, "reason": "it may work now"}

    await world.change(PLANS, PLAN, requests=[asks])
    await world.until(PLANS, PLAN, lambda p: "endedAt" not in p["status"])

    plan = await teller.tell()
    assert (plan["status"]["phase"], order(plan)) == ("Succeeded", "a#1 b#1 c#1")
    assert [a["answer"] for a in plan["status"]["requests"]] == ["Done"]
    task = await world.get(TASKS, "flow-b-i1")
    assert [a["reason"] for a in task["status"]["attempts"]] == ["AgentFailed", "Succeeded"]


async def test_what_has_landed_of_a_failed_workflow_is_delivered_in_part(
    world: World, user: str
) -> None:
    await world.start()
    teller = Teller(world, Story("a chain", _CHAIN, order="", ends={"b": ["failed"]}), user)
    await teller.apply()
    plan = await teller.tell()
    assert plan["status"]["phase"] == "Failed"
    asks = {"id": "d-1", "verb": "DeliverPartial", "by": user, "reason": "it is due"}

    await world.change(PLANS, PLAN, requests=[asks])

    plan = await _phase(world, "DeliveredPartially")
    assert world.kubelet.remote.refs[MAIN] == plan["status"]["delivery"]["sha"]
    assert [a["answer"] for a in plan["status"]["requests"]] == ["Done"]


async def test_who_mends_is_told_what_was_found(world: World, user: str) -> None:
    await world.start()
    story = Story("the pipeline", PIPELINE, order="", ends={"run-tests": ["failed"]})
    teller = Teller(world, story, user)
    await teller.apply()

    assert (await teller.tell())["status"]["phase"] == "Succeeded"

    prompts = await world.all(CONFIG_MAPS)
    told = prompts["flow-fix-bugs-i1-s1-prompt"]["data"]["earlier.md"]
    where = "node 'run-tests', run 1; its work has not landed"
    assert told.startswith(f"Task 'flow-run-tests-i1' ({where}):\nAgentFailed")
    assert "earlier.md" in prompts["flow-run-tests-i2-s1-prompt"]["data"]
    assert "earlier.md" not in prompts["flow-run-tests-i1-s1-prompt"]["data"]


async def test_a_settled_workflow_is_not_written_to(world: World, user: str) -> None:
    replica = await world.start(resync=0.3)
    teller = Teller(world, Story("a chain", _CHAIN, order="a#1 b#1 c#1"), user)
    await teller.apply()
    assert (await teller.tell())["status"]["phase"] == "Succeeded"
    await world.at_rest()
    await eventually(lambda: True)
    before, looks = len(await world.writes()), replica.reconciles("plan")

    await replica.reconciled(plan=looks + 3)

    assert len(await world.writes()) == before
