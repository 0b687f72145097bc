"""Logs are read beside the reconciles: a node that does not answer delays nobody else."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from bernstein.api.pod import CHECK
from bernstein.controllers.logs import reader as log_reader
from bernstein.controllers.logs.reader import READERS, SECONDS, LogReader
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock as RealClock
from bernstein.kube.errors import NotFound, Requeue
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Controller, Result
from bernstein.kube.resource import Key, Object
from bernstein.resources import TASKS
from tests.background import Background, eventually
from tests.unit.kube.apiserver import ApiServer


def pod(name: str) -> Object:
    return {"metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}"}}


@dataclass
class Nodes:
    """Answers for nodes; those of pods called `dead` or `slow` are not `back` yet."""

    asked: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    back: asyncio.Event = field(default_factory=asyncio.Event)

    async def logs(self, namespace: str, name: str, **_: Any) -> bytes:
        self.asked.append(name)
        if name.startswith(("dead", "slow")):
            await self.back.wait()
        if name.startswith("gone"):
            raise NotFound(404, "NotFound", "no such pod")
        self.answered.append(name)
        return f"log of {namespace}/{name}".encode()


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def nodes() -> Nodes:
    return Nodes()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def reader(nodes: Nodes, clock: Clock, background: Background) -> LogReader:
    found = LogReader(nodes, RealClock(monotonic=clock))  # type: ignore[arg-type]
    background.start(found.run())
    return found


async def test_logs_of_nodes_that_answer_are_there_at_once(reader: LogReader) -> None:
    found = await reader.read([pod("a"), pod("gone"), pod("b")], CHECK)

    assert found == {"uid-a": b"log of team/a", "uid-b": b"log of team/b"}


async def test_a_log_that_is_late_is_there_with_a_later_look_and_is_asked_for_once(
    reader: LogReader, nodes: Nodes
) -> None:
    with pytest.raises(Requeue):
        await reader.read([pod("dead")], CHECK)
    nodes.back.set()
    await eventually(lambda: "dead" in nodes.answered)

    assert await reader.read([pod("dead")], CHECK) == {"uid-dead": b"log of team/dead"}
    assert nodes.asked == ["dead"]


async def test_a_log_that_never_comes_is_given_up(reader: LogReader, clock: Clock) -> None:
    with pytest.raises(Requeue):
        await reader.read([pod("dead"), pod("a")], CHECK)
    clock.now += SECONDS

    assert await reader.read([pod("dead"), pod("a")], CHECK) == {"uid-a": b"log of team/a"}


async def test_one_that_was_forgotten_is_asked_for_anew_beside_another(
    reader: LogReader, clock: Clock, nodes: Nodes
) -> None:
    with pytest.raises(Requeue):
        await reader.read([pod("dead")], CHECK)
    nodes.back.set()
    clock.now += 100 * SECONDS

    assert set(await reader.read([pod("dead"), pod("a")], CHECK)) == {"uid-dead", "uid-a"}


async def test_logs_that_nobody_has_come_back_for_do_not_fill_the_memory(
    reader: LogReader, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reader, "HELD_BYTES", 3 * len(b"log of team/slow0"))
    slow = [pod(f"slow{number}") for number in range(5)]
    for each in slow:
        with pytest.raises(Requeue):
            await reader.read([each], CHECK)
    nodes.back.set()
    await eventually(lambda: len(nodes.answered) == len(slow))

    found = [await reader.read([each], CHECK) for each in slow]

    assert [bool(each) for each in found] == [True, True, True, False, False]
    assert await reader.read(slow[3:4], CHECK) == {"uid-slow3": b"log of team/slow3"}, "room again"


async def test_nobody_waits_longer_for_logs_that_are_not_even_begun(
    reader: LogReader, clock: Clock, nodes: Nodes
) -> None:
    many = [pod(f"dead{number}") for number in range(READERS + 5)]
    with pytest.raises(Requeue):
        await reader.read(many, CHECK)
    assert len(nodes.asked) == READERS, "so many at the same time, and no more"
    clock.now += SECONDS

    assert await reader.read(many, CHECK) == {}


async def test_what_nobody_comes_back_for_is_forgotten_and_asked_for_anew(
    reader: LogReader, clock: Clock, nodes: Nodes
) -> None:
    with pytest.raises(Requeue):
        await reader.read([pod("dead")], CHECK)
    clock.now += 100 * SECONDS
    await reader.read([pod("a")], CHECK)

    nodes.back.set()

    assert await reader.read([pod("dead")], CHECK) == {"uid-dead": b"log of team/dead"}
    assert nodes.asked == ["dead", "a", "dead"]


async def test_twelve_tasks_of_a_dead_node_do_not_delay_another_namespace(
    api: ApiServer,
    client: Client,
    background: Background,
    reader: LogReader,
    nodes: Nodes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With four workers, each of which would have waited for the dead node time and again."""
    monkeypatch.setattr(log_reader, "AGAIN_SECONDS", 0.01)
    names = [f"dead{number}" for number in range(12)]
    for name in names:
        api.put(TASKS, name, "team")
    reached = asyncio.Event()

    async def reconcile(key: Key) -> Result:
        if key.namespace == "team":
            await reader.read([pod(key.name)], CHECK)
        else:
            reached.set()
        return Result()

    tasks = Informer(client, TASKS)
    background.start(tasks.run())
    await tasks.synced()
    controller = Controller("task", reconcile, primary=tasks, workers=4)
    background.start(controller.run())
    await eventually(lambda: nodes.asked)
    began = time.monotonic()

    api.put(TASKS, "quick", "elsewhere")
    await reached.wait()

    assert time.monotonic() - began < SECONDS
