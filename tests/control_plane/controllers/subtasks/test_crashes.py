"""After any write of the story of a Task that is split the operator may die, and the next one
finishes it: each subtask is made once."""

from __future__ import annotations

import asyncio

from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import works
from tests.control_plane.controllers.mortal import Life, after_each_write, mortal, over_or
from tests.control_plane.controllers.subtasks.document import document, leaves
from tests.control_plane.controllers.world import QUIET, World, stage, state_of
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import PLANS, TASKS

PARENT = "shop-a-big"


async def test_whatever_write_was_the_last_each_subtask_is_made_once(
    make_world: MakeWorld, logs: NodeLogs
) -> None:
    async def tell(life: Life) -> None:
        await _tell(await make_world(), logs, life)

    await after_each_write(tell, more_than=40, most=8)


async def _tell(world: World, logs: NodeLogs, life: Life) -> None:
    left = leaves(logs, document("one", "two"))
    world.kubelet.on(f"{PARENT}-s[0-9]", works(empty=True, documents=(left,)))
    await world.project(gates=QUIET)
    first = await world.start(client=mortal(life))
    await world.plan("shop", [stage("a", {"title": "big", "role": "manager"})])
    done = asyncio.create_task(_succeeded(world))
    if await over_or(done, life):
        await first.kill()
        await world.start(lease="second")
    await done
    tasks = await world.all(TASKS)
    rows = (await world.get(PLANS, "shop"))["status"]["tasks"]

    assert sorted(task["spec"]["title"] for task in tasks.values()) == ["big", "one", "two"]
    assert {state_of(task) for task in tasks.values()} == {"Closed"}
    assert sorted(row["name"] for row in rows) == sorted(tasks)
    assert len(world.kubelet.remote.landed) == 3, "each of both, and the Plan"
    assert await world.sessions() == sorted(f"{name}-s1" for name in tasks)
    moves = [move["toState"] for move in tasks[PARENT]["status"]["history"]]
    assert moves[2:] == ["InProgress", "WaitingForSubtasks", "Done", "Closed"]


async def _succeeded(world: World) -> None:
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    await world.let_go(world.kubelet.pods[f"{PARENT}-s1"].name)
