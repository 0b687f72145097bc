"""What the page on uninstalling says for when no operator is there any more."""

from __future__ import annotations

import asyncio
import os
import subprocess

from bernstein.kube.errors import Forbidden
from tests.control_plane.chart.test_policies_off import only_watching
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.controllers.conftest import MakeWorld, make_world, node
from tests.control_plane.controllers.kubelet import run
from tests.control_plane.controllers.world import QUIET
from tests.control_plane.objects import AGENT_SESSIONS, TASKS
from tests.unit.docs.pages import ROOT, blocks

__all__ = ["make_world", "node"]

PAGE = ROOT / "docs/how-to/uninstall.md"


async def test_sessions_that_have_ended_are_let_go_and_others_are_not(
    make_world: MakeWorld, tools: Tools
) -> None:
    world = await make_world()
    world.kubelet.on("runs-*", run)
    await world.project(gates=QUIET)
    replica = await world.start()
    await world.task("ended")
    await world.task("runs")
    await world.task_in("ended", "Closed")
    await world.task_in("runs", "InProgress")
    await replica.stop()
    for task in ("ended", "runs"):
        await world.delete(TASKS, task)
        session = f"{task}-s1"
        await world.until(AGENT_SESSIONS, session, lambda s: "deletionTimestamp" in s["metadata"])
    (block,) = (b for b in blocks("console") if b.page == PAGE and "while read" in b.text)

    async def let_go() -> bool:
        await asyncio.to_thread(as_administrator, tools, block.text.removeprefix("$ "))
        return "ended-s1" not in await world.sessions()

    async def is_refused() -> bool:
        change = {"metadata": {"labels": {"is": "refused"}}}
        try:
            await world.admin.patch(AGENT_SESSIONS, "runs-s1", world.namespace, change)
        except Forbidden:
            return True
        return False

    assert not await let_go(), "the chart is there"
    async with only_watching(world.admin, "sessions"):
        await eventually(let_go)
    await eventually(is_refused)

    assert await world.sessions() == ["runs-s1"]


def as_administrator(tools: Tools, script: str) -> None:
    environment = {
        **os.environ,
        "PATH": f"{tools.folder}:{os.environ['PATH']}",
        "KUBECONFIG": str(tools.kubeconfig),
    }
    subprocess.run(["bash", "-c", script], env=environment, check=False, timeout=120)
