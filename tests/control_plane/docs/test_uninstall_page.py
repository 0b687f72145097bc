"""What the page on uninstalling says for when no operator is there any more."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
from pathlib import Path

import yaml

from bernstein.kube.errors import Forbidden
from release import charts
from tests.control_plane.chart.test_policies_off import only_watching
from tests.control_plane.conftest import CHART, Tools, eventually
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


def test_the_manifest_s_own_objects_go_and_the_kinds_stay(
    tools: Tools, chart: None, tmp_path: Path
) -> None:
    run = charts.helm(tools.folder / "helm")
    packed = charts.package(run, CHART, "1.2.3", "bernstein", tmp_path, 1_700_000_000)
    (tmp_path / "install.yaml").write_text(charts.manifest(run, packed))
    made = [each for each in yaml.safe_load_all((tmp_path / "install.yaml").read_text()) if each]
    (block,) = (b for b in blocks("console") if b.page == PAGE and "install.yaml" in b.text)
    command = shlex.split(block.text.splitlines()[0].removeprefix("$ kubectl "))
    options = [str(tmp_path / word) if word == "install.yaml" else word for word in command]

    told = tools.kubectl(*options, "--dry-run=client", "--output=name").split()

    staying = ("CustomResourceDefinition", "Namespace")
    going = [each["metadata"]["name"] for each in made if each["kind"] not in staying]
    assert sorted(name.rpartition("/")[2] for name in told) == sorted(going)
