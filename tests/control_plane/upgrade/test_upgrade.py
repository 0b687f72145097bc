"""From the last release to this one and back, while Plans run: each goes on, and repeats nothing.

The last release is what `tests/releases` keeps: its chart, and its operator as a process. A test
plays the node, and stops each Plan where another kind of Job is at work.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from tests import releases
from tests.cluster import Cluster, select
from tests.cluster.binaries.build import ensure_binaries
from tests.control_plane.conftest import (
    CHART,
    RELEASE_NAMESPACE,
    Tools,
    account_of,
    install_chart,
    own_name,
)
from tests.control_plane.controllers.conftest import MakeWorld, played_node, worlds
from tests.control_plane.controllers.kubelet import Pod, Script, results, succeed
from tests.control_plane.controllers.world import PATIENCE, QUIET, World, condition, stage
from tests.control_plane.objects import PLANS
from tests.control_plane.upgrade.processes import operator

ACCOUNT = "bernstein-operator"
ROLES = ("begin", "agent", "inspect", "land")
"""A Job of each is at work at the moment of the change."""
SIGNAL = {"type": "path_exists", "path": "limiter.py"}
TASKS_OF_A_PLAN = 2


@dataclass(frozen=True)
class Place:
    cluster: Cluster
    tools: Tools
    node: str

    async def operator(self) -> ConnectionInfo:
        return account_of(self.cluster)(RELEASE_NAMESPACE, ACCOUNT)


@pytest.fixture
def place() -> Iterator[Place]:
    """A cluster of its own with the last release: others have this one's CRDs and policies."""
    cluster = select("control-plane", own_name("upgrade"))
    cluster.up()
    try:
        tools = Tools(ensure_binaries().tools, cluster.kubeconfig)
        install_chart(tools, releases.last().chart)
        yield Place(cluster, tools, played_node(tools))
    finally:
        cluster.down()


@pytest.fixture
async def make_world(place: Place) -> AsyncIterator[MakeWorld]:
    async with contextlib.AsyncExitStack() as stack:
        kubeconfig = ConnectionInfo.from_kubeconfig(str(place.cluster.kubeconfig))
        admin = await stack.enter_async_context(Client(kubeconfig))
        connection = await place.operator()
        yield await stack.enter_async_context(worlds(admin, connection, place.cluster, place.node))


@dataclass(frozen=True)
class Work:
    """A Plan after another in a world of its own; of each the first pod of one role is held."""

    world: World
    role: str

    async def begin(self, name: str) -> asyncio.Event:
        """Until that pod is at work. It goes on when the event is set."""
        there, let = asyncio.Event(), asyncio.Event()
        self.world.kubelet.on(self.role, _held(there, let), succeed)
        step = {"title": "Write the limiter", "completionSignals": [SIGNAL]}
        await self.world.plan(name, [stage("build", step), stage("tell", "Document it")])
        async with asyncio.timeout(2 * PATIENCE):
            await there.wait()
        return let

    async def succeeds(self, name: str) -> None:
        plan = await self.world.until(PLANS, name, lambda p: p["status"].get("endedAt"))
        assert condition(plan, "Succeeded")["status"] == "True", plan["status"]
        await self.world.at_rest()

    async def made(self) -> Counter[tuple[str, str]]:
        """How often each object was made."""
        return Counter(
            (write.resource, write.name)
            for write in await self.world.writes()
            if (write.verb, write.code) == ("create", 201)
        )


def _held(there: asyncio.Event, let: asyncio.Event) -> Script:
    async def script(pod: Pod) -> None:
        await pod.start()
        there.set()
        await let.wait()
        await pod.end("Succeeded", await results(pod))

    return script


async def _change_over(
    works: Sequence[Work],
    name: str,
    modules: tuple[Path | None, Path | None],
    change: Callable[[], object],
    folder: Path,
) -> None:
    """The Plans of that name begin under one release and end under another."""
    before, after = modules
    worlds = [work.world for work in works]
    async with operator(worlds, before, folder / f"{name}-before"):
        held = await asyncio.gather(*(work.begin(name) for work in works))
    await asyncio.to_thread(change)
    async with operator(worlds, after, folder / f"{name}-after"):
        for let in held:
            let.set()
        await asyncio.gather(*(work.succeeds(name) for work in works))


async def test_plans_go_on_through_an_upgrade_and_back_and_nothing_is_made_twice(
    place: Place, make_world: MakeWorld, tmp_path: Path
) -> None:
    last = releases.last().unpack(tmp_path / "last")
    works = [Work(await make_world(), role) for role in ROLES]
    for work in works:
        await work.world.project(gates=QUIET)

    def upgrade() -> None:
        place.tools.helm("upgrade", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE)

    def back() -> None:
        place.tools.helm("rollback", "bernstein", "1", "-n", RELEASE_NAMESPACE)

    await _change_over(works, "forth", (last, None), upgrade, tmp_path)
    await _change_over(works, "back", (None, last), back, tmp_path)

    for work in works:
        made = await work.made()
        assert {each: times for each, times in made.items() if times > 1} == {}
        sessions = [name for kind, name in made if kind == "agentsessions"]
        assert len(sessions) == 2 * TASKS_OF_A_PLAN, sessions
        assert set(sessions) <= {name for kind, name in made if kind == "jobs"}
