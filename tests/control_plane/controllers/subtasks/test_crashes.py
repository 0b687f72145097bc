"""After any write of the story of a Task that is split the operator may die, and the next one
finishes it: each subtask is made once."""

from __future__ import annotations

import asyncio

import pytest

from bernstein.kube.resource import Object
from tests.control_plane.controllers.conftest import MakeWorld
from tests.control_plane.controllers.kubelet import works
from tests.control_plane.controllers.mortal import Life, after_each_write, mortal, over_or
from tests.control_plane.controllers.subtasks.document import document, leaves
from tests.control_plane.controllers.subtasks.parts import said
from tests.control_plane.controllers.world import QUIET, World, stage, state_of
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import PLANS, TASKS

PARENT = "shop-a-big"


SPLITS = {"title": "big", "role": "manager"}
SAYS = said("one", "two")


@pytest.mark.parametrize("step", [SPLITS, SAYS], ids=["by its agent", "by its step"])
async def test_whatever_write_was_the_last_each_subtask_is_made_once(
    make_world: MakeWorld, logs: NodeLogs, step: Object
) -> None:
    async def tell(life: Life) -> None:
        await _tell(await make_world(), logs, step, life)

    await after_each_write(tell, more_than=35, most=8)


async def _tell(world: World, logs: NodeLogs, step: Object, life: Life) -> None:
    left = leaves(logs, document("one", "two"))
    world.kubelet.on(f"{PARENT}-s[0-9]", works(empty=True, documents=(left,)))
    await world.project(gates=QUIET)
    first = await world.start(client=mortal(life))
    await world.plan("shop", [stage("a", step)])
    done = asyncio.create_task(_succeeded(world, step))
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
    by = [name for name in tasks if step is SPLITS or name != PARENT]
    assert await world.sessions() == sorted(f"{name}-s1" for name in by)
    moves = [move["toState"] for move in tasks[PARENT]["status"]["history"]]
    assert moves[1 if step is SAYS else 3 :] == ["WaitingForSubtasks", "Done", "Closed"]


async def _succeeded(world: World, step: Object) -> None:
    await world.until(PLANS, "shop", lambda p: p["status"].get("phase") == "Succeeded")
    if step is SPLITS:
        await world.let_go(world.kubelet.pods[f"{PARENT}-s1"].name)
