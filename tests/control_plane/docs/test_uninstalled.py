"""Whoever follows the page on uninstalling leaves nothing in the cluster."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator

import pytest

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from tests.cluster import Cluster, select
from tests.cluster.binaries.build import ensure_binaries
from tests.control_plane.conftest import (
    RELEASE_NAMESPACE,
    Tools,
    account_of,
    eventually,
    install_chart,
    own_name,
)
from tests.control_plane.controllers.conftest import played_node, worlds
from tests.control_plane.controllers.world import QUIET, stage
from tests.control_plane.objects import AGENT_SESSIONS, PLANS
from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs/how-to/uninstall.md"
OF_THE_MOMENT = ("events", "events.events.k8s.io", "leases.coordination.k8s.io")
"""What Kubernetes writes and removes by itself."""
NAMES = '{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}'


@pytest.fixture
def own() -> Iterator[tuple[Cluster, Tools]]:
    """A cluster in which nothing of ours has been."""
    cluster = select("control-plane", own_name("uninstall"))
    cluster.up()
    try:
        yield cluster, Tools(ensure_binaries().tools, cluster.kubeconfig)
    finally:
        cluster.down()


def steps() -> list[list[str]]:
    """The commands of the page that remove something, in its order, up to the repositories."""
    texts = [
        block.text
        for block in blocks("console")
        # The manifest is the other way to install.
        if block.page == PAGE and "install.yaml" not in block.text
    ]
    lines = re.sub(r"\\\n\s*", " ", "\n".join(texts)).splitlines()
    commands = [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]
    removing = (["kubectl", "delete"], ["helm", "uninstall"])
    return [each for each in commands if each[:2] in removing]


def there(tools: Tools) -> set[str]:
    """Every object that somebody may list."""
    kinds = tools.kubectl("api-resources", "--verbs=list", "--output=name").split()
    listed = ",".join(kind for kind in kinds if kind not in OF_THE_MOMENT)
    return set(tools.kubectl("get", listed, "-A", f"--output=jsonpath={NAMES}").splitlines())


async def test_nothing_is_left_of_work_and_of_the_chart(own: tuple[Cluster, Tools]) -> None:
    cluster, tools = own
    node = played_node(tools)
    before = await asyncio.to_thread(there, tools)
    await asyncio.to_thread(install_chart, tools)
    work, projects, chart, *rest = steps()
    account = account_of(cluster)(RELEASE_NAMESPACE, "bernstein-operator")
    async with (
        Client(ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig))) as admin,
        worlds(admin, account, cluster, node) as make_world,
    ):
        world = await make_world()
        await world.project(gates=QUIET)
        await world.start()
        await world.plan("shop", [stage("build", "page")])
        await world.until(PLANS, "shop", lambda p: p["status"].get("endedAt"))
        assert await world.all(AGENT_SESSIONS)

        for command in (work, projects):
            await asyncio.to_thread(tools.kubectl, *command[1:])
        await world.none_left(AGENT_SESSIONS)

    # No node is there to run the hook's Job; it has tests of its own.
    await asyncio.to_thread(tools.helm, *chart[1:], "--no-hooks")
    for command in rest:
        await asyncio.to_thread(tools.kubectl, *command[1:])

    async def is_as_before() -> bool:
        return await asyncio.to_thread(there, tools) <= before

    assert [chart[0], *(command[2] for command in rest)] == ["helm", "namespace", "crd"]
    try:
        await eventually(is_as_before, seconds=60)
    except AssertionError:
        assert there(tools) - before == set()
        raise
