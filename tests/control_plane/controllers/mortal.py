"""A client whose process dies after its n-th write, or whose answers get lost."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import TransportError
from bernstein.observe.metrics import Metrics

_READS = ("GET",)
_NO_WORK = ("leases", "events")
AT_ONCE = 8
"""Stories that are told side by side."""
EVERY = os.environ.get("BERNSTEIN_CRASH_AFTER") == "every"
"""Whether the engine dies after every write of each story: each takes a life."""


@dataclass
class Life:
    """What all copies of one client share."""

    lasts: int
    """Writes until death."""
    writes: list[str] = field(default_factory=list)
    """VERB path of every write that was answered, in that order."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    leads: Callable[[], bool] = lambda: True
    unfenced: list[str] = field(default_factory=list)
    """Writes that were sent by one who did not lead."""


class _Mortal(Client):
    life: Life

    async def _send(self, verb: str, label: str, path: str, **more: Any) -> bytes:
        if self.life.over.is_set():
            raise TransportError("this process is dead")
        if verb not in _READS and label not in _NO_WORK and not self.life.leads():
            self.life.unfenced.append(f"{verb} {path}")
        answer = await super()._send(verb, label, path, **more)
        if verb in _READS or label in _NO_WORK:
            return answer
        self.life.writes.append(f"{verb} {path}")
        if len(self.life.writes) >= self.life.lasts:
            self.life.over.set()
            raise TransportError("this process has just died")
        return answer


def mortal(life: Life) -> Callable[[ConnectionInfo, Metrics], Client]:
    """Dies right after its n-th write has taken effect: nothing that it learnt is used."""

    def client(connection: ConnectionInfo, metrics: Metrics) -> Client:
        made = _Mortal(connection, observer=metrics)
        made.life = life
        return made

    return client


class _Deaf(Client):
    lost: set[str]

    async def _send(self, verb: str, label: str, path: str, **more: Any) -> bytes:
        answer = await super()._send(verb, label, path, **more)
        write = f"{verb} {path} {more.get('data')!r}"
        if verb in _READS or label in _NO_WORK or write in self.lost:
            return answer
        self.lost.add(write)
        raise TransportError("the answer was lost")


def deaf(lost: set[str]) -> Callable[[ConnectionInfo, Metrics], Client]:
    """Gets no answer to anything that it writes for the first time, though it takes effect."""

    def client(connection: ConnectionInfo, metrics: Metrics) -> Client:
        made = _Deaf(connection, observer=metrics)
        made.lost = lost
        return made

    return client


class _Unable(Client):
    resource: str

    async def _send(self, verb: str, label: str, path: str, **more: Any) -> bytes:
        if verb not in _READS and f"/{self.resource}/" in path:
            raise TransportError("it does not get through")
        return await super()._send(verb, label, path, **more)


def unable(resource: str) -> Callable[[ConnectionInfo, Metrics], Client]:
    """Changes no object of this resource, a plural."""

    def client(connection: ConnectionInfo, metrics: Metrics) -> Client:
        made = _Unable(connection, observer=metrics)
        made.resource = resource
        return made

    return client


async def after_each_write(
    tell: Callable[[Life], Awaitable[None]], more_than: int, most: int
) -> None:
    """Tells the story as a whole, which writes `more_than` so often, then with an engine that dies
    after its first write, after its second, and so on; at `most` of them, evenly spread, unless at
    EVERY one."""
    whole = Life(lasts=1000)
    await tell(whole)
    assert len(whole.writes) > more_than
    side_by_side = asyncio.Semaphore(AT_ONCE)

    async def crash_after(number: int) -> None:
        async with side_by_side:
            life = Life(lasts=number)
            try:
                await tell(life)
            except BaseException as error:
                error.add_note(f"the first engine died after write {number}: {life.writes[-1:]}")
                raise

    async with asyncio.TaskGroup() as stories:
        numbers = range(1, len(whole.writes) + 1)
        for number in numbers[:: 1 if EVERY else max(1, -(-len(numbers) // most))]:
            stories.create_task(crash_after(number))


async def over_or(done: asyncio.Task[Any], life: Life) -> bool:
    """Waits for the one or the other; whether it is the life that is over."""
    dead = asyncio.create_task(life.over.wait())
    await asyncio.wait({done, dead}, return_when=asyncio.FIRST_COMPLETED)
    dead.cancel()
    return life.over.is_set()


async def unless_over(work: Coroutine[Any, Any, None], life: Life) -> None:
    """Until the work is done, or the life is over: one that dies early does no work."""
    doing = asyncio.create_task(work)
    if await over_or(doing, life):
        doing.cancel()
    else:
        await doing
