"""A manager's session splits its Task: others do the parts, and it is done once they are."""

from __future__ import annotations

from bernstein.core import labels
from bernstein.core.documents import SUBTASKS
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.kubelet import Pod, ends, exited, run, succeed, works
from tests.control_plane.controllers.subtasks.document import document, leaves
from tests.control_plane.controllers.subtasks.parts import parts, split
from tests.control_plane.controllers.world import QUIET, World, stage, state_of
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS

PARENT = "shop-a-big"
STEP: Object = {
    "title": "big",
    "role": "manager",
    "model": "opus",
    "completionSignals": [{"type": "path_exists", "path": "all.py"}],
}
PRICES = {"prices": [{"model": "opus", "input": "10", "output": "0"}]}


async def begins(world: World, logs: NodeLogs, data: bytes, **project: object) -> None:
    """A Plan of one step, whose manager leaves this and changes nothing."""
    left = leaves(logs, data)
    world.kubelet.on(f"{PARENT}-s[0-9]", works(empty=True, documents=(left,)), succeed)
    await world.project(gates=QUIET, budget=PRICES, **project)
    await world.plan("shop", [stage("a", STEP), stage("b", "after")])


async def test_three_do_it_one_fails_once_and_the_parent_closes_on_what_they_landed(
    world: World, logs: NodeLogs
) -> None:
    world.kubelet.on("*-t2-*-s1", works(outcome="AgentFailed", message="no"))
    await world.start()
    await begins(world, logs, document("one", "two", "three", files=["src"], priority=1))
    plan = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    tasks = await world.all(TASKS)
    parent = tasks[PARENT]
    names = parts(parent)

    assert [tasks[name]["spec"]["title"] for name in names] == ["one", "two", "three"]
    assert {state_of(task) for task in tasks.values()} == {"Closed"}
    moves = [move["toState"] for move in parent["status"]["history"]]
    assert moves == [
        *("Open", "Claimed", "InProgress", "WaitingForSubtasks", "Done", "Closed"),
    ]
    assert [row["state"] for row in parent["status"]["subtasks"]] == ["Closed"] * 3
    assert tasks[names[1]]["status"]["attempt"] == 2
    for name in names:
        own = tasks[name]
        assert own["metadata"]["labels"][labels.SUBTASK_OF] == PARENT
        (owner,) = own["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"]) == ("Plan", "shop")
        assert own["spec"]["completionSignals"] == STEP["completionSignals"]
        assert own["spec"]["files"] == ["src"]
        assert own["spec"]["model"] == parent["spec"]["model"]

    rows = {row["name"]: row for row in plan["status"]["tasks"]}
    assert [name for name, row in rows.items() if row.get("parent") == PARENT] == names
    landed = [rows[name]["landed"] for name in (*names, "shop-b-after")]
    assert sorted(entry["number"] for entry in landed) == [1, 2, 3, 4]
    assert "landed" not in rows[PARENT]
    assert parent["status"]["delivery"]["state"] == "NoChange"
    tip = next(entry["sha"] for entry in landed if entry["number"] == 3)
    judged = parent["status"]["verification"]
    assert (judged["base"], judged["sha"], judged["passed"]) == (tip, tip, True)
    assert [check["name"] for check in judged["checks"]] == ["signal-0"]
    assert plan["status"]["counts"]["total"] == plan["status"]["counts"]["closed"] == 5
    assert plan["status"]["usage"]["input"] == 1000 * 6


async def test_a_plan_waits_for_it_and_says_what_for(world: World, logs: NodeLogs) -> None:
    world.kubelet.on("*-t1-*-s1", run)
    await world.start()
    await begins(world, logs, document("one"))
    (name,) = await split(world, PARENT)
    await world.task_in(name, "InProgress")

    parent = await world.get(TASKS, PARENT)
    after = await world.until(TASKS, "shop-b-after", lambda t: t["status"]["waiting"])

    assert state_of(parent) == "WaitingForSubtasks"
    assert parent["status"]["waiting"]["reason"] == "SubtasksPending"
    assert after["status"]["waiting"]["reason"] == "DependencyPending"


async def test_a_bad_document_costs_the_attempt_and_the_next_one_is_told(
    world: World, logs: NodeLogs
) -> None:
    await world.start()
    await begins(world, logs, document("one", cli="big", files=["../x"]))
    parent = await world.task_in(PARENT, "Closed")
    prompt = await world.get(CONFIG_MAPS, f"{PARENT}-s2-prompt")

    attempts = parent["status"]["attempts"]
    assert [each["reason"] for each in attempts] == ["SubtasksInvalid", "Succeeded"]
    assert "split" not in parent["status"]
    told = prompt["data"]["findings.md"]
    assert "subtasks[0].cli: a subtask does not say that" in told
    assert "subtasks[0].files[0]: must be relative to the repository" in told
    assert SUBTASKS.path in prompt["data"]["rules.md"]


async def test_a_cancel_goes_down_to_them(world: World, logs: NodeLogs) -> None:
    async def until_asked(pod: Pod) -> None:
        await pod.start()
        await world.until(AGENT_SESSIONS, pod.job, lambda s: s["spec"].get("stop"))
        await pod.end("Succeeded", await pod.deliver(stopped="Cancelled"))

    world.kubelet.on("*-t1-*-s1", until_asked)
    await world.start()
    await begins(world, logs, document("one", "two"))
    one, two = await split(world, PARENT)
    await world.task_in(one, "InProgress")
    await world.task_in(two, "Closed")
    await world.change(TASKS, PARENT, cancel={"reason": "not needed"})
    parent = await world.task_in(PARENT, "Cancelled")
    ended = await world.get(TASKS, one)

    assert state_of(ended) == "Cancelled"
    assert ended["spec"]["cancel"]["reason"] == "not needed"
    assert [row["state"] for row in parent["status"]["subtasks"]] == ["Cancelled", "Closed"]


async def test_so_does_the_deletion_of_the_parent(world: World, logs: NodeLogs) -> None:
    world.kubelet.on("*-t1-*-s1", works(outcome="RateLimited", retry_after=3600))
    await world.start()
    await begins(world, logs, document("one"))
    (name,) = await split(world, PARENT)
    await world.delete(TASKS, PARENT)
    ended = await world.task_in(name, "Cancelled")

    assert ended["spec"]["cancel"]["by"] == "operator"


async def test_one_that_ends_without_result_blocks_it_until_a_person_has_it_done_anew(
    world: World, logs: NodeLogs
) -> None:
    world.kubelet.on("*-t1-*-s*", works(outcome="AgentFailed", message="no"))
    await world.start()
    left = leaves(logs, document("one", "two"))
    world.kubelet.on(f"{PARENT}-s[0-9]", works(empty=True, documents=(left,)), succeed)
    await world.project(gates=QUIET)
    await world.plan("shop", [stage("a", STEP)])
    parent = await world.task_in(PARENT, "Blocked")
    plan = await world.stalled(PLANS, "shop", "SubtasksStalled")
    one, two = parts(parent)
    asks = {"id": "r1", "verb": "Unblock", "by": "kubernetes-admin", "reason": "do it yourself"}
    await world.change(TASKS, PARENT, requests=[asks])
    done = await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Succeeded")
    tasks = await world.all(TASKS)

    assert f"'{one}' ended as Failed" in parent["status"]["waiting"]["message"]
    assert plan["status"]["phase"] == "Stalled"
    assert {name: state_of(task) for name, task in tasks.items()} == {
        PARENT: "Closed",
        one: "Cancelled",
        two: "Closed",
    }
    assert done["status"]["counts"]["closed"] == 2
    prompt = await world.get(CONFIG_MAPS, f"{PARENT}-s2-prompt")
    assert "do it yourself" in prompt["data"]["findings.md"]


async def test_one_that_a_person_retries_lets_its_parent_go_on(
    world: World, logs: NodeLogs
) -> None:
    fails = works(outcome="AgentFailed", message="no")
    world.kubelet.on("*-t1-*-s*", fails, fails, fails, fails, succeed)
    await world.start()
    await begins(world, logs, document("one"))
    parent = await world.task_in(PARENT, "Blocked")
    (name,) = parts(parent)
    asks = {"id": "r1", "verb": "Retry", "by": "kubernetes-admin", "reason": "once more"}
    await world.change(TASKS, name, requests=[asks])
    closed = await world.task_in(PARENT, "Closed")

    moves = [move["toState"] for move in closed["status"]["history"]]
    back = ["WaitingForSubtasks", "Blocked", "Open", "WaitingForSubtasks"]
    assert moves[3:] == [*back, "Done", "Closed"]
    assert closed["status"]["sessions"] == 1


async def test_what_they_landed_is_judged_by_the_signals_of_the_parent(
    world: World, logs: NodeLogs
) -> None:
    signal = {"type": "test_passes", "command": "make all"}
    own = {"completion_signals": [{"type": "path_exists", "path": "one.py"}]}
    left = leaves(logs, document("one", **own))
    world.kubelet.on(f"{PARENT}-s[0-9]", works(empty=True, documents=(left,)), succeed)
    world.kubelet.on(f"{PARENT}-s1-signal-*", ends("Failed", check=exited(1, "two missing")))
    await world.start()
    await world.project(gates=QUIET)
    await world.plan("shop", [stage("a", STEP | {"completionSignals": [signal]})])
    parent = await world.task_in(PARENT, "Closed")

    assert parent["status"]["attempt"] == 2
    moves = [move["toState"] for move in parent["status"]["history"]]
    assert moves[3:7] == ["WaitingForSubtasks", "Done", "Failed", "Open"]
    assert parent["status"]["split"]["over"] is True


async def test_a_project_may_want_nothing_to_be_split(world: World, logs: NodeLogs) -> None:
    await world.start()
    await begins(world, logs, document("one"), limits={"subtasks": {"depth": 0}})
    parent = await world.task_in(PARENT, "Closed")
    prompt = await world.get(CONFIG_MAPS, f"{PARENT}-s1-prompt")
    session = await world.get(AGENT_SESSIONS, f"{PARENT}-s1")

    assert "documents" not in session["spec"]
    assert SUBTASKS.path not in prompt["data"]["rules.md"]
    assert parent["status"]["attempts"][0]["reason"] == "SubtasksInvalid"
