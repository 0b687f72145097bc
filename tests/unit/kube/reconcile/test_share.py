"""Whoever writes objects with which the API server takes long leaves workers to others."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass

import pytest

from bernstein.kube import share
from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.errors import TransportError
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import LONGEST_REST, Controller, Result
from bernstein.kube.resource import Key
from bernstein.kube.share import SLOW_FOR, SLOW_SECONDS, Share
from tests.background import Background, eventually
from tests.unit.kube.apiserver import WIDGETS

WORKERS = 4


class Time:
    def __init__(self) -> None:
        self.seconds = 0.0

    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.seconds)


def taken(its: Share, namespace: str) -> int:
    """How many workers it gets."""
    return sum(1 for _ in itertools.takewhile(its.take, [namespace] * WORKERS))


def test_a_namespace_has_all_workers_until_it_takes_them_long() -> None:
    time = Time()
    its = Share(WORKERS, time.clock())

    assert taken(its, "a") == WORKERS
    its.give_back("a", SLOW_SECONDS)
    assert not its.take("a")
    for _ in range(WORKERS - 1):
        its.give_back("a", 0.1)
    assert taken(its, "a") == WORKERS // 2
    assert taken(its, "b") == WORKERS


def test_what_was_slow_is_forgotten_after_a_while() -> None:
    time = Time()
    its = Share(WORKERS, time.clock())
    assert its.take("a")
    its.give_back("a", SLOW_SECONDS)

    time.seconds = SLOW_FOR

    assert taken(its, "a") == WORKERS


def test_one_worker_is_shared_by_all() -> None:
    its = Share(1, Time().clock())
    assert its.take("a")
    its.give_back("a", SLOW_SECONDS)

    assert its.take("a")


LARGE = [Key("greedy", f"large-{number}") for number in range(30)]
SMALL = Key("team", "small")


@dataclass
class Held:
    """What comes of keys that hold their worker until they time out, as writes do of 1.4 MB of
    managedFields, and of another one beside them."""

    controller: Controller
    time: Time
    tries: list[Key]

    async def times_out(self, times: int) -> None:
        """All that run do, one set after the other."""
        for _ in range(times):
            await eventually(lambda: self._running() > 0)
            self.time.seconds += 30.0
            self.timeout.set()
            self.timeout.clear()
            for _ in range(50):
                await asyncio.sleep(0)

    def __post_init__(self) -> None:
        self.timeout = asyncio.Event()

    def _running(self) -> int:
        return len(self.controller.queue._running)


@pytest.fixture
async def held(client: Client, background: Background) -> Held:
    time, tries = Time(), list[Key]()

    async def reconcile(key: Key) -> Result:
        tries.append(key)
        if key != SMALL:
            await made.timeout.wait()
            raise TransportError("no answer")
        return Result()

    widgets = Informer(client, WIDGETS)
    background.start(widgets.run())
    controller = Controller(
        "widgets", reconcile, primary=widgets, workers=WORKERS, clock=time.clock()
    )
    made = Held(controller, time, tries)
    background.start(controller.run())
    for key in LARGE:
        controller.queue.add(key)
    await eventually(lambda: len(tries) == WORKERS)
    controller.queue.add(SMALL)
    return made


async def test_while_writes_of_one_namespace_time_out_another_ones_are_made(held: Held) -> None:
    await held.times_out(1)

    await eventually(lambda: SMALL in held.tries)
    assert len(held.tries) == WORKERS + WORKERS // 2 + 1
    due, _, _ = held.controller.queue._delayed[LARGE[0]]
    assert due == pytest.approx(held.time.seconds + LONGEST_REST)


async def test_where_it_may_have_all_workers_others_wait_for_all_that_it_has(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "SLOW_SECONDS", 1000.0)

    await held.times_out(len(LARGE) // WORKERS - 1)

    assert SMALL not in held.tries
