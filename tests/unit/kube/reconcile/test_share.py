"""Whoever writes objects with which the API server takes long leaves workers to others."""

from __future__ import annotations

import asyncio
import itertools

from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.errors import TransportError
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Controller, Result
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


def taken(share: Share, namespace: str) -> int:
    """How many workers it gets."""
    return sum(1 for _ in itertools.takewhile(share.take, [namespace] * WORKERS))


def test_a_namespace_has_all_workers_until_it_takes_them_long() -> None:
    time = Time()
    share = Share(WORKERS, time.clock())

    assert taken(share, "b") == WORKERS
    assert taken(share, "a") == WORKERS
    share.give_back("a", SLOW_SECONDS)
    assert not share.take("a")
    for _ in range(WORKERS - 1):
        share.give_back("a", 0.1)
    assert taken(share, "a") == WORKERS // 2


def test_a_namespace_that_is_the_only_one_has_all_workers_however_long_it_takes() -> None:
    share = Share(WORKERS, Time().clock())
    assert share.take("a")
    share.give_back("a", SLOW_SECONDS)

    assert taken(share, "a") == WORKERS


def test_what_was_slow_is_forgotten_after_a_while() -> None:
    time = Time()
    share = Share(WORKERS, time.clock())
    assert share.take("b")
    assert share.take("a")
    share.give_back("a", SLOW_SECONDS)

    time.seconds = SLOW_FOR

    assert taken(share, "a") == WORKERS


def test_one_worker_is_shared_by_all() -> None:
    share = Share(1, Time().clock())
    assert share.take("b")
    assert share.take("a")
    share.give_back("a", SLOW_SECONDS)

    assert share.take("a")


async def test_while_writes_of_one_namespace_time_out_another_ones_are_made(
    client: Client, background: Background
) -> None:
    """Each of thirty keys holds its worker until it times out, as a write does of 1.4 MB of
    managedFields; the other namespace waits no longer than for the first ones."""
    time, timeout = Time(), asyncio.Event()
    tries: list[str] = []

    async def reconcile(key: Key) -> Result:
        tries.append(key.name)
        if key.namespace == "greedy":
            await timeout.wait()
            raise TransportError("no answer")
        return Result()

    widgets = Informer(client, WIDGETS)
    background.start(widgets.run())
    controller = Controller(
        "widgets", reconcile, primary=widgets, workers=WORKERS, clock=time.clock()
    )
    background.start(controller.run())
    controller.queue.add(Key("team", "before"))
    await eventually(lambda: tries == ["before"])
    tries.clear()
    for number in range(30):
        controller.queue.add(Key("greedy", f"large-{number}"))
    await eventually(lambda: len(tries) == WORKERS)
    controller.queue.add(Key("team", "small"))
    time.seconds += 30.0

    timeout.set()
    timeout.clear()

    await eventually(lambda: "small" in tries)
    assert len(tries) < 2 * WORKERS + 2
