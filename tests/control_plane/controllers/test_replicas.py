"""Two replicas: one acts, the other takes over; who has lost the Lease writes nothing more."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import LostLeadership
from bernstein.kube.resource import JOBS, LEASES, Object
from tests.background import eventually
from tests.control_plane.controllers.kubelet import after, run, works
from tests.control_plane.controllers.mortal import Life, mortal
from tests.control_plane.controllers.world import PATIENCE, World, state_of
from tests.control_plane.objects import TASKS

Process = asyncio.subprocess.Process


@pytest.fixture
async def spawn(world: World, tmp_path: Path) -> AsyncIterator[Callable[[], Awaitable[Process]]]:
    """Starts the operator's real process, with the account and the Lease of this namespace."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(await _kubeconfig(world.operator)))
    kubeconfig.chmod(0o600)
    started: list[Process] = []
    log = (tmp_path / "log").open("wb")

    async def start() -> Process:
        options = {
            "image": "bernstein:dev",
            "namespace": world.namespace,
            "watch": world.namespace,
            "lease-name": "operator",
            "http-port": "0",
        }
        started.append(
            await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bernstein.controllers"),
                *(f"--{name}={value}" for name, value in options.items()),
                env={**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": "operator"},
                stderr=log,
            )
        )
        return started[-1]

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()
    log.close()


async def _kubeconfig(connection: ConnectionInfo) -> dict[str, object]:
    assert connection.token is not None
    token = await connection.token.token()
    cluster = {"server": connection.server, "certificate-authority": str(connection.ca_file)}
    context = {"cluster": "c", "user": "u", "namespace": connection.namespace}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": token}}],
        "contexts": [{"name": "x", "context": context}],
    }


async def holder(world: World) -> str:
    lease = await world.until(LEASES, "operator", lambda e: e["spec"].get("holderIdentity"))
    found: str = lease["spec"]["holderIdentity"]
    return found


async def test_the_second_takes_over_when_the_first_is_killed(
    world: World, spawn: Callable[[], Awaitable[Process]], tmp_path: Path
) -> None:
    free = asyncio.Event()
    world.kubelet.on("agent", after(free, works()))
    first = await spawn()
    before = await holder(world)
    second = Life(lasts=1000)
    replica = await world.start(client=mortal(second))
    await world.task("one")
    await world.task_in("one", "Claimed")
    await world.until(JOBS, "one-s1", lambda _: True)
    assert second.writes == []
    assert not replica.engine.elector.leading
    exported = {family.name for family in replica.metrics.registry.collect()}
    assert "bernstein_tasks" not in exported
    # A line is written after the write that it is about.
    log = tmp_path / "log"
    await eventually(lambda: len(_moves(log, "task")) == 2 and _moves(log, "session"))
    first.kill()
    await first.wait()
    _moves_are_logged(log, await world.get(TASKS, "one"))
    free.set()
    await world.task_in("one", "Closed")
    closed = {"namespace": world.namespace, "state": "Closed"}
    read = replica.metrics.registry.get_sample_value
    await eventually(lambda: read("bernstein_tasks", closed) == 1)
    assert await holder(world) != before
    assert await world.sessions() == ["one-s1"]
    assert len(world.kubelet.remote.landed) == 1
    assert second.writes


def _moves_are_logged(log: Path, task: Object) -> None:
    """One line of JSON for each, that leads back to the object."""
    about = {"namespace": task["metadata"]["namespace"], "name": "one", "attempt": 0}
    about["uid"] = task["metadata"]["uid"]
    told = [line for line in _moves(log, "task") if about.items() <= line.items()]
    assert [line["after"] for line in told] == ["Open", "Claimed"]
    sessions = _moves(log, "session")
    assert {line["name"] for line in sessions} == {"one-s1"}
    assert all(line["uid"] and line["attempt"] == 1 for line in sessions)


def _moves(log: Path, kind: str) -> list[dict[str, Any]]:
    """The lines about moves that are there; the last one may be half written."""
    *whole, _ = log.read_text().split("\n")
    return [line for line in map(json.loads, whole) if line["message"] == f"{kind} moved"]


async def test_a_process_that_lost_its_lease_exits_with_1(
    world: World, spawn: Callable[[], Awaitable[Process]]
) -> None:
    process = await spawn()
    await holder(world)
    await _steal(world)
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == 1
    await world.task("late")
    await asyncio.sleep(0.5)
    late = await world.get(TASKS, "late")
    assert late["status"] == {"observedGeneration": -1, "state": "Open"}, "as it was born"


async def test_a_process_that_is_told_to_end_gives_the_lease_back(
    world: World, spawn: Callable[[], Awaitable[Process]]
) -> None:
    process = await spawn()
    await holder(world)
    process.terminate()
    async with asyncio.timeout(PATIENCE):
        assert await process.wait() == 0
    lease = await world.get(LEASES, "operator")
    assert not lease["spec"].get("holderIdentity")


async def test_every_write_of_a_leader_is_sent_while_it_leads(world: World) -> None:
    world.kubelet.on("agent", run)
    life = Life(lasts=1000)
    replica = await world.start(client=mortal(life))
    await holder(world)
    life.leads = lambda: replica.engine.elector.leading
    busy = asyncio.create_task(_always_something_new(world))
    await world.until(TASKS, "t3", state_of)
    await _steal(world)
    with pytest.raises(BaseExceptionGroup) as lost:
        await replica.work
    busy.cancel()
    await asyncio.gather(busy, return_exceptions=True)
    assert lost.group_contains(LostLeadership)
    assert life.writes
    assert life.unfenced == []


async def _always_something_new(world: World) -> None:
    number = 0
    while True:
        await world.task(f"t{number}")
        number += 1
        await asyncio.sleep(0.05)


async def _steal(world: World) -> None:
    body = {"spec": {"holderIdentity": "somebody-else"}}
    await world.admin.patch(LEASES, "operator", world.namespace, body)
