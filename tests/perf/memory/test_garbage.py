"""How long the operator's process stands still while Python looks for garbage.

Such a look goes through objects without a pause, whatever they are: with thousands of Tasks it
takes longer than any step of the loop. How many objects it goes through is counted, which is the
same on any machine; how long that takes is measured as CPU time. What the tests themselves have
made before is left out. The figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from time import process_time
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import orjson
import pytest

from bernstein.controllers.__main__ import GARBAGE, keep, leave_out, looking_for_garbage
from bernstein.controllers.caches import Caches
from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client
from bernstein.kube.resource import Object, Resource
from bernstein.resources import TASKS
from tests.control_plane.objects import valid
from tests.perf.pace import quickest
from tests.perf.test_largest_sets import name, signals

T = TypeVar("T")

MOST_SECONDS = 0.2
"""Of one look."""
NUMBER = 4000
"""Of Tasks with as many signals as one may have: of all that the API takes they are made of most
objects for their bytes."""


def task(number: int) -> Object:
    made = valid("Task", "work", name(number), **signals(number))
    made["metadata"] |= {"uid": f"uid-{number}", "resourceVersion": str(number + 1)}
    read: Object = orjson.loads(orjson.dumps(made | {"status": {"state": "Open"}}))
    return read


class Cluster:
    """An API server that lists these Tasks first, and tells of others later."""

    def __init__(self, listed: int, told: int = 0) -> None:
        self._listed, self._told = listed, told

    async def read(
        self, of: Resource, __: object, take: Callable[[Object], T], *___: object, **____: object
    ) -> tuple[list[T], str]:
        numbers = range(self._listed if of == TASKS else 0)
        return [take(task(number)) for number in numbers], str(self._listed)

    async def watch(self, of: Resource, *_: object, **__: object) -> AsyncIterator[WatchEvent]:
        for number in range(self._listed, self._listed + self._told if of == TASKS else 0):
            yield WatchEvent("ADDED", task(number))
            await asyncio.sleep(0)
        await asyncio.Event().wait()


class Looks:
    """CPU seconds, and number of objects, of the looks for garbage."""

    def __init__(self) -> None:
        self.all: list[tuple[float, int]] = []
        self._began = 0.0
        self._number = 0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations = range(info["generation"] + 1)
            self._number = sum(len(gc.get_objects(generation)) for generation in generations)
            self._began = process_time()
        else:
            self.all.append((process_time() - self._began, self._number))

    def full(self) -> tuple[float, int]:
        """One that looks at all that is not left out."""
        gc.collect()
        return self.all[-1]

    @property
    def seconds(self) -> float:
        return max(seconds for seconds, _ in self.all)

    @property
    def objects(self) -> int:
        return max(number for _, number in self.all)


@pytest.fixture
def looks() -> Iterator[Looks]:
    """Those that there are from here on, at what is made from here on."""
    looks, was = Looks(), gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.callbacks.append(looks)
    try:
        yield looks
    finally:
        gc.callbacks.remove(looks)
        gc.set_threshold(*was)
        gc.unfreeze()


@contextlib.asynccontextmanager
async def following(cluster: Cluster) -> AsyncIterator[Caches]:
    caches = Caches(cast("Client", cluster))
    running = [asyncio.create_task(informer.run()) for informer in caches.informers]
    try:
        yield caches
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def shown(looked: tuple[float, int]) -> str:
    return f"{looked[0] * 1000:.0f} ms, {looked[1]:,} objects"


async def test_no_full_look_for_garbage_goes_through_what_the_first_lists_brought(
    looks: Looks,
) -> None:
    gc.set_threshold(0)  # only those that the test asks for
    async with following(Cluster(NUMBER)) as caches:
        engine: Any = SimpleNamespace(caches=caches)
        for informer in caches.informers:
            await informer.synced()
        before = looks.full()
        await keep(engine)
        after = looks.full()

        assert len(caches.tasks.by_name("work")) == NUMBER
    print(f"\n{NUMBER:,} Tasks: kept {shown(after)}, not kept {shown(before)}")
    assert before[1] > 50 * NUMBER
    assert after[1] < before[1] / 20
    assert after[0] < before[0] / 2


async def arrive(how: contextlib.AbstractContextManager[None]) -> None:
    """As many Tasks come after the first lists."""
    arrived = asyncio.Event()

    def changed(_: Object | None, new: Object | None) -> None:
        if new is not None and new["metadata"]["name"] == name(NUMBER):
            arrived.set()

    with how:
        async with following(Cluster(1, NUMBER)) as caches:
            caches.tasks.informer.add_handler(changed)
            await keep(cast("Any", SimpleNamespace(caches=caches)))
            await arrived.wait()
            gc.collect()


@contextlib.contextmanager
def nothing_left_out() -> Iterator[None]:
    """As the operator does it, but for that."""
    with looking_for_garbage():
        gc.callbacks.remove(leave_out)
        try:
            yield
        finally:
            gc.callbacks.append(leave_out)


def test_no_look_for_garbage_takes_200_ms_however_many_tasks_come_after_the_first_lists(
    looks: Looks,
) -> None:
    told = []

    def measured() -> float:
        looks.all.clear()
        asyncio.run(arrive(looking_for_garbage()))
        told.append(shown((looks.seconds, looks.objects)))
        return looks.seconds

    longest, limit = quickest(measured, MOST_SECONDS)
    most = looks.objects
    looks.all.clear()
    asyncio.run(arrive(nothing_left_out()))

    everything = shown((looks.seconds, looks.objects))
    print(f"\n{NUMBER:,} Tasks arrive: at most {told}; with nothing left out {everything}")
    assert longest < limit, f"{limit * 1000:.0f} ms are allowed; {told}"
    rounds = (GARBAGE[1] + 2) * (GARBAGE[2] + 2)
    assert most < GARBAGE[0] * rounds, "it does not grow with the number of Tasks"
    assert looks.objects > 1.4 * most, "what is compared with is no stall"
