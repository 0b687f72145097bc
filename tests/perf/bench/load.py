"""The load: Tasks of many Projects, and chains of Jobs that nobody but their maker waits for."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bernstein.kube.client import Client
from bernstein.kube.informer import Informer
from bernstein.kube.resource import JOBS, Key, Object, Resource, key_of
from tests.control_plane.objects import PROJECTS, TASKS, valid
from tests.perf.bench.bare_jobs import MARK
from tests.resources import NAMESPACES

MAKERS = 8
"""Requests that are under way at the same time."""
Chain = Sequence[Sequence[Object]]
"""Jobs of one piece of work: each group is made when the one before is complete."""


class WentWrongError(Exception):
    """Something ended that should have succeeded."""


@dataclass(frozen=True)
class Place:
    """A Task to be made."""

    namespace: str
    name: str

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)


def places(namespaces: Sequence[str], count: int, prefix: str) -> list[Place]:
    """So many, handed to the namespaces in turn."""
    return [
        Place(namespaces[number % len(namespaces)], f"{prefix}-{number}") for number in range(count)
    ]


async def make_projects(admin: Client, count: int, prefix: str, **spec: Any) -> list[str]:
    """Namespaces with a Project each."""
    stamp = uuid.uuid4().hex[:6]
    names = [f"{prefix}-{stamp}-{number}" for number in range(count)]
    own = {"pod-security.kubernetes.io/enforce": "restricted"}

    async def make(name: str) -> None:
        await admin.create(NAMESPACES, {"metadata": {"name": name, "labels": own}})
        await admin.create(PROJECTS, valid("Project", name, "default", **spec))

    await _all(make, names)
    return names


async def make_tasks(admin: Client, wanted: Iterable[Place], **spec: Any) -> None:
    """Tasks that differ by their names alone, and by their files: no two have the same."""

    async def make(place: Place) -> None:
        own = {"title": place.name, "files": [f"{place.name}.py"], **spec}
        await admin.create(TASKS, valid("Task", place.namespace, place.name, **own))

    await _all(make, list(wanted))


async def _all(make: Callable[[Any], Awaitable[None]], wanted: Sequence[Any]) -> None:
    room = asyncio.Semaphore(MAKERS)

    async def one(each: Any) -> None:
        async with room:
            await make(each)

    async with asyncio.TaskGroup() as group:
        for each in wanted:
            group.create_task(one(each))


class Watched:
    """Objects of a kind as they are now; `until` waits for what becomes of them."""

    def __init__(self, informer: Informer) -> None:
        self.informer = informer
        self._changed = asyncio.Event()
        informer.add_handler(self._seen)

    def _seen(self, _: Object | None, new: Object | None) -> None:
        if new is not None:
            self._changed.set()

    async def until(self, holds: Callable[[], bool], seconds: float) -> float:
        """The monotonic time at which it held. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                self._changed.clear()
                await self._changed.wait()
        return time.monotonic()

    async def until_each(
        self, wanted: Iterable[Place], holds: Callable[[Object], bool], seconds: float
    ) -> float:
        """The monotonic time at which it had held of the status of each, if only for a moment. Only
        what changes is looked at: thousands may be wanted. Raises TimeoutError, and what `holds`
        raises."""
        left = {place.key for place in wanted}
        raised: list[Exception] = []

        def seen(_: Object | None, new: Object | None) -> None:
            if new is None or raised or key_of(new) not in left:
                return
            try:
                if holds(new.get("status", {})):
                    left.discard(key_of(new))
            except WentWrongError as error:
                raised.append(error)

        for key in tuple(left):
            seen(None, self.informer.get(key))
        self.informer.add_handler(seen)
        ended = await self.until(lambda: bool(raised) or not left, seconds)
        if raised:
            raise raised[0]
        return ended

    def states(self, wanted: Iterable[Place]) -> list[Object]:
        """Statuses of these Tasks; {} of one that has none yet."""
        found = (self.informer.get(place.key) for place in wanted)
        return [(obj or {}).get("status", {}) for obj in found]


@asynccontextmanager
async def watched(admin: Client, resource: Resource, **selectors: Any) -> AsyncIterator[Watched]:
    """All objects of a kind, from the first list on."""
    informer = Informer(admin, resource, **selectors)
    work = asyncio.create_task(informer.run())
    try:
        await informer.synced()
        yield Watched(informer)
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def run_tasks(admin: Client, wanted: Sequence[Place], seconds: float, **spec: Any) -> float:
    """Make Tasks and wait until all are Closed: the seconds that it took.

    Raises TimeoutError, or WentWrongError when one fails.
    """
    async with watched(admin, TASKS) as tasks:
        begun = time.monotonic()
        await make_tasks(admin, wanted, **spec)

        def closed(status: Object) -> bool:
            if status.get("state") == "Failed":
                raise WentWrongError(f"a Task failed: {status}")
            return bool(status.get("state") == "Closed")

        return await tasks.until_each(wanted, closed, seconds) - begun


async def run_chains(admin: Client, chains: Mapping[Place, Chain], seconds: float) -> float:
    """Make the Jobs of all chains, each after those before it, and wait until all are complete: the
    seconds that it took. Raises TimeoutError, or WentWrongError when one fails."""
    own = ",".join(f"{key}={value}" for key, value in MARK.items())
    async with asyncio.TaskGroup() as making, watched(admin, JOBS, label_selector=own) as jobs:
        all_chains = _Chains(admin, chains, making)
        jobs.informer.add_handler(all_chains.seen)
        begun = time.monotonic()
        all_chains.begin()
        async with asyncio.timeout(seconds):
            await all_chains.finished.wait()
        took = time.monotonic() - begun
    if all_chains.failed is not None:
        raise WentWrongError(f"the Job {all_chains.failed} failed")
    return took


class _Chains:
    """How far each chain is."""

    def __init__(
        self, admin: Client, chains: Mapping[Place, Chain], making: asyncio.TaskGroup
    ) -> None:
        self.finished = asyncio.Event()
        self.failed: Key | None = None
        self._admin = admin
        self._making = making
        self._left = {place: list(chain) for place, chain in chains.items()}
        self._running: dict[Key, Place] = {}
        """Jobs that are at work, and what for."""
        self._at_work: Counter[Place] = Counter()

    def begin(self) -> None:
        for place in list(self._left):
            self._go_on(place)

    def seen(self, _: Object | None, new: Object | None) -> None:
        """What became of a Job."""
        if new is None or key_of(new) not in self._running:
            return
        ended = _ended(new)
        if ended == "Failed":
            self.failed = key_of(new)
            self.finished.set()
        elif ended == "Complete":
            place = self._running.pop(key_of(new))
            self._at_work[place] -= 1
            if not self._at_work[place]:
                self._go_on(place)

    def _go_on(self, place: Place) -> None:
        if not self._left[place]:
            del self._left[place]
            if not self._left:
                self.finished.set()
            return
        for job in self._left[place].pop(0):
            self._running[Key(place.namespace, job["metadata"]["name"])] = place
            self._at_work[place] += 1
            self._making.create_task(_create(self._admin, job, place.namespace))


async def _create(admin: Client, job: Object, namespace: str) -> None:
    await admin.create(JOBS, job, namespace=namespace)


def _ended(job: Object) -> str | None:
    for condition in job.get("status", {}).get("conditions", ()):
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            return str(condition["type"])
    return None
