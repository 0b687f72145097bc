"""A step says its subtasks: its Task is split before anybody works on it, and no session of it
ever begins."""

from __future__ import annotations

import pytest

from bernstein.core import labels
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.kubelet import ends, exited, succeed, works
from tests.control_plane.controllers.subtasks.parts import parts, said, split
from tests.control_plane.controllers.world import QUIET, World, stage, state_of
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS

PARENT = "shop-a-big"
OWN = {"completionSignals": [{"type": "path_exists", "path": "all.py"}]}


async def begins(world: World, *titles: str, of: Object | None = None, **project: object) -> None:
    await world.project(gates=QUIET, **project)
    await world.plan("shop", [stage("a", said(*titles, **(of or {}))), stage("b", "after")])


async def test_others_do_it_and_it_closes_on_what_they_landed(world: World) -> None:
    world.kubelet.on("*-t2-*-s1", works(outcome="AgentFailed", message="no"))
    await world.start()
    await begins(world, "one", "two", "three", of=OWN)
    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    tasks = await world.all(TASKS)
    parent = tasks[PARENT]
    names = parts(parent)

    assert [tasks[name]["spec"]["title"] for name in names] == ["one", "two", "three"]
    assert {state_of(task) for task in tasks.values()} == {"Closed"}
    moves = [move["toState"] for move in parent["status"]["history"]]
    assert moves == ["Open", "WaitingForSubtasks", "Done", "Closed"]
    assert f"{PARENT}-s1" not in await world.all(AGENT_SESSIONS)
    assert (parent["status"].get("session"), parent["status"]["sessions"]) == (None, 0)
    assert "session" not in parent["status"]["split"]
    for name in names:
        own = tasks[name]
        assert own["metadata"]["labels"][labels.SUBTASK_OF] == PARENT
        assert own["spec"]["completionSignals"] == OWN["completionSignals"]

    rows = {row["name"]: row for row in plan["status"]["tasks"]}
    assert [name for name, row in rows.items() if row.get("parent") == PARENT] == names
    landed = [rows[name]["landed"] for name in (*names, "shop-b-after")]
    tip = next(entry["sha"] for entry in landed if entry["number"] == 3)
    judged = parent["status"]["verification"]
    assert (judged["base"], judged["sha"], judged["passed"]) == (tip, tip, True)
    assert [check["name"] for check in judged["checks"]] == ["signal-0"]
    assert parent["status"]["delivery"]["state"] == "NoChange"
    assert plan["status"]["counts"]["total"] == plan["status"]["counts"]["closed"] == 5


async def test_it_is_split_once_what_it_waits_for_is_closed(world: World) -> None:
    await world.start()
    await world.project(gates=QUIET)
    await world.plan("shop", [stage("b", "before"), stage("a", said("one"))])
    await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    tasks = await world.all(TASKS)
    parent = tasks[PARENT]

    begun = next(m for m in parent["status"]["history"] if m["toState"] == "WaitingForSubtasks")
    before = tasks["shop-b-before"]["status"]["history"][-1]
    assert before["toState"] == "Closed"
    assert before["time"] <= begun["time"]


async def test_one_that_ends_without_result_blocks_it_until_all_are_done_anew(
    world: World,
) -> None:
    fails = works(outcome="AgentFailed", message="no")
    world.kubelet.on("*-t1-*-s*", fails, fails, fails, fails, succeed)
    await world.start()
    await begins(world, "one", "two")
    parent = await world.task_in(PARENT, "Blocked")
    one, two = parts(parent)
    asks = {"id": "r1", "verb": "Unblock", "by": "kubernetes-admin", "reason": "once more"}
    await world.change(TASKS, PARENT, requests=[asks])
    await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    tasks = await world.all(TASKS)
    anew = parts(tasks[PARENT])

    assert f"'{one}' ended as Failed" in parent["status"]["waiting"]["message"]
    assert not {one, two} & {*anew}
    assert {state_of(tasks[name]) for name in (PARENT, two, *anew)} == {"Closed"}
    assert state_of(tasks[one]) == "Cancelled"
    assert tasks[PARENT]["status"]["sessions"] == 0


async def test_what_they_landed_is_judged_by_its_own_signals_and_done_anew(world: World) -> None:
    signal = {"type": "test_passes", "command": "make all"}
    world.kubelet.on(f"{PARENT}-s1-signal-*", ends("Failed", check=exited(1, "two missing")))
    await world.start()
    await begins(world, "one", of={"completionSignals": [signal]})
    parent = await world.task_in(PARENT, "Closed")

    moves = [move["toState"] for move in parent["status"]["history"]]
    once = ["WaitingForSubtasks", "Done"]
    assert moves == ["Open", *once, "Failed", "Open", *once, "Closed"]
    assert (parent["status"]["attempt"], parent["status"]["split"]["number"]) == (2, 2)
    (anew,), maps = parts(parent), await world.all(CONFIG_MAPS)
    told = [key for key, each in maps.items() if "earlier.md" in each.get("data", {})]
    assert told == [f"{anew}-s1-prompt"]
    assert "two missing" in maps[told[0]]["data"]["earlier.md"]


async def test_a_cancel_goes_down_to_them(world: World) -> None:
    world.kubelet.on("*-t1-*-s1", works(outcome="RateLimited", retry_after=3600))
    await world.start()
    await begins(world, "one")
    (name,) = await split(world, PARENT)
    await world.change(TASKS, PARENT, cancel={"reason": "not needed"})
    await world.task_in(PARENT, "Cancelled")

    assert (await world.get(TASKS, name))["spec"]["cancel"]["reason"] == "not needed"


async def test_a_task_without_a_plan_is_not_split(world: World) -> None:
    await world.start()
    await world.project(gates=QUIET)
    await world.task("alone", title="big", subtasks=[{"title": "one"}])
    alone = await world.stalled(TASKS, "alone", "SubtasksInvalid")

    assert state_of(alone) == "Open"
    assert "Make a Plan with this step" in alone["status"]["waiting"]["message"]


async def test_a_plan_whose_tasks_are_delivered_each_by_itself_is_invalid(world: World) -> None:
    await world.start()
    await begins(world, "one", merge={"strategy": "direct", "per": "Task"})
    plan = await world.stalled(PLANS, "shop", "PlanInvalid")

    assert "nothing is split in a Plan" in plan["status"]["waiting"]["message"]


async def test_what_a_subtask_may_not_say_is_told_before_anything_is_made(world: World) -> None:
    await world.start()
    await world.project(gates=QUIET, limits={"subtasks": {"count": 1}})
    entries = [{"title": "one", "files": ["docs/a.md"]}, {"title": "two"}]
    step = {"title": "big", "files": ["src"], "subtasks": entries}
    await world.plan("shop", [stage("a", step)])
    plan = await world.stalled(PLANS, "shop", "PlanInvalid")
    told = plan["status"]["waiting"]["message"]

    assert "stages[0].steps[0].subtasks: at most 1, got 2" in told
    assert "subtasks[0].files[0]: 'docs/a.md' is none of the files" in told
    assert await world.all(TASKS) == {}


@pytest.mark.parametrize(
    "more", [{"subtasks": []}, {"subtasks": [{"title": "one"}], "changes": "none"}]
)
async def test_an_empty_list_and_a_split_that_changes_nothing_are_refused(
    world: World, more: Object
) -> None:
    with pytest.raises(Invalid, match="subtasks"):
        await world.plan("shop", [stage("a", {"title": "big", **more})])
