"""Two releases in one cluster that work in one namespace each: neither reads or changes anything in
the namespace of the other, and nobody forges anything where a release works."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from bernstein.controllers.engine import Engine
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import Forbidden, NotFound
from bernstein.kube.resource import JOBS, PODS
from bernstein.observe.metrics import Metrics
from tests.background import wait_for
from tests.cluster import Cluster, select
from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.control_plane import audit
from tests.control_plane.conftest import (
    CHART,
    Tools,
    account_of,
    await_kinds_as_owners,
    own_name,
)
from tests.control_plane.controllers.kubelet import Kubelet
from tests.control_plane.controllers.world import SETTINGS, World
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, TASKS, job, valid
from tests.documents import documents
from tests.resources import NAMESPACES

RELEASES = ("one", "two")


def of(release: str) -> str:
    return f"team-{release}"


def home(release: str) -> str:
    return f"{release}-system"


def user(release: str) -> str:
    return f"system:serviceaccount:{home(release)}:{release}-bernstein-operator"


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    """A cluster of its own: where a release works everywhere, no other works at all."""
    cluster = select("control-plane", own_name("shared"))
    found = cluster.status().ready
    cluster.up()
    yield cluster
    if not found:
        cluster.down()


@pytest.fixture(scope="module")
def shared_tools(shared: Cluster) -> Tools:
    """With both releases installed; the kinds belong to the first one."""
    tools = Tools(ensure_binaries().tools, shared.kubeconfig)
    for release in RELEASES:
        tools.run("kubectl", "create", "namespace", of(release))
    for number, release in enumerate(RELEASES):
        tools.helm(
            *("upgrade", "--install", release, str(CHART), "-n", home(release)),
            *("--create-namespace", "--set", f"crds.install={json.dumps(number == 0)}"),
            *("--set", f"watch.namespaces={{{of(release)}}}"),
        )
    tools.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    for release in RELEASES:
        await_kinds_as_owners(tools, user(release), of(release))
        _await_denial(tools, release)
    return tools


def _await_denial(tools: Tools, release: str) -> None:
    """Policies take effect some time after they are there."""
    forged = json.dumps(job(of(release)))

    def denied() -> bool:
        tried = tools.run("kubectl", "create", "--dry-run=server", "-f-", stdin=forged)
        return f"{release}-bernstein-objects" in tried.stderr

    wait_for(denied)


@dataclass(frozen=True)
class Team:
    """A namespace, and whoever works there."""

    world: World
    metrics: Metrics

    def refused(self) -> float:
        """How often its operator has asked for what it may not have."""
        return sum(
            sample.value
            for family in self.metrics.registry.collect()
            for sample in family.samples
            if sample.labels.get("code") == "403" and sample.name.endswith("_total")
        )


@pytest.fixture
async def teams(shared: Cluster, shared_tools: Tools) -> AsyncIterator[list[Team]]:
    """Both operators at work, with the accounts and the arguments that the chart gives them."""
    connect = account_of(shared)
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "played"}}
    shared_tools.run("kubectl", "create", "-f-", stdin=json.dumps(node))
    async with (
        Client(ConnectionInfo.from_kubeconfig(str(shared.kubeconfig))) as admin,
        _team(shared, admin, connect(home("one"), "one-bernstein-operator"), "one") as one,
        _team(shared, admin, connect(home("two"), "two-bernstein-operator"), "two") as two,
    ):
        yield [one, two]


@asynccontextmanager
async def _team(
    cluster: Cluster, admin: Client, connection: ConnectionInfo, release: str
) -> AsyncIterator[Team]:
    kubelet = Kubelet(admin, of(release), "played")
    metrics, stop = Metrics(process=False), asyncio.Event()
    async with Client(connection, observer=metrics) as client:
        log = cluster.audit_log
        position = audit.position(log)
        world = World(admin, connection, client, of(release), kubelet, log, position)
        engine = Engine(
            client,
            namespace=home(release),
            settings=SETTINGS,
            metrics=metrics,
            lease=f"{release}-bernstein-operator",
            watch=[of(release)],
        )
        played = asyncio.create_task(kubelet.run())
        work = asyncio.create_task(engine.run(stop))
        try:
            yield Team(world, metrics)
        finally:
            stop.set()
            await work
            played.cancel()


async def test_each_release_finishes_its_work_and_touches_nothing_elsewhere(
    teams: list[Team],
) -> None:
    for team in teams:
        await team.world.project(gates={"enabled": False})
        await team.world.task("work")
    for team in teams:
        await team.world.task_in("work", "Closed")
        await team.world.at_rest()

    for team, release in zip(teams, RELEASES, strict=True):
        assert team.refused() == 0
        written = [
            write
            for write in audit.writes(team.world.log, team.world.started)
            if write.user == user(release)
        ]
        assert {write.namespace for write in written} == {of(release), home(release)}
        assert {w.resource for w in written if w.namespace == home(release)} == {"leases"}


async def test_what_nobody_watches_is_left_alone(teams: list[Team]) -> None:
    admin = teams[0].world.admin
    await admin.create(NAMESPACES, {"metadata": {"name": "of-nobody"}})
    made = await admin.create(TASKS, valid("Task", "of-nobody", "idle"))
    await admin.create(JOBS, job("of-nobody"))  # no policy looks here, and nobody reads it

    await teams[0].world.project(gates={"enabled": False})
    await teams[0].world.task("later")
    await teams[0].world.task_in("later", "Closed")

    assert await admin.get(TASKS, "idle", "of-nobody") == made


async def test_an_operator_has_no_rights_outside_of_its_namespaces(teams: list[Team]) -> None:
    for team, other in zip(teams, reversed(RELEASES), strict=True):
        for resource in (TASKS, PLANS, JOBS, PODS):
            for namespace in (of(other), home(other), "default", None):
                with pytest.raises(Forbidden):
                    await team.world.as_operator.list(resource, namespace)


async def test_nobody_forges_anything_in_either_namespace(teams: list[Team]) -> None:
    """Not even the other operator, had it rights there."""
    for team, other in zip(teams, reversed(RELEASES), strict=True):
        admin = team.world.admin
        with pytest.raises(Forbidden, match=f"{other}-bernstein-objects"):
            await admin.create(JOBS, job(of(other)))
        with pytest.raises(Forbidden, match=f"{other}-bernstein-sessions"):
            await admin.create(AGENT_SESSIONS, valid("AgentSession", of(other)))


def test_the_only_right_on_the_cluster_is_to_review_tokens(shared_tools: Tools) -> None:
    text = shared_tools.helm("get", "manifest", "one", "-n", home("one"))
    objects = documents(text)
    bound = {o["roleRef"]["name"] for o in objects if o["kind"] == "ClusterRoleBinding"}
    rules = [
        rule
        for o in objects
        if o["kind"] == "ClusterRole" and o["metadata"]["name"] in bound
        for rule in o["rules"]
    ]

    assert [rule["resources"] for rule in rules] == [["tokenreviews"]]


async def test_a_server_reads_sessions_of_its_own_namespace_only(
    shared: Cluster, shared_tools: Tools
) -> None:
    connect = account_of(shared)
    for release, other in zip(RELEASES, reversed(RELEASES), strict=True):
        async with Client(connect(home(release), f"{release}-bernstein-server")) as server:
            with pytest.raises(NotFound):
                await server.get(AGENT_SESSIONS, "any", of(release))
            with pytest.raises(Forbidden):
                await server.get(AGENT_SESSIONS, "any", of(other))
