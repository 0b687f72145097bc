"""What many events that come at once cost the loop: whatever is in one step of it holds everything
up, the Lease of the leader included.

The figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import process_time
from typing import Any

import orjson
import pytest

from bernstein.api.task import parse
from bernstein.controllers.caches.parsed import Parsed
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Object
from bernstein.resources import TASKS
from tests.control_plane.objects import valid
from tests.model.cluster.store import NAMESPACE
from tests.perf.pace import quickest
from tests.perf.test_largest_sets import Steps, name, no_collection, texts

__all__ = ["no_collection"]

EVENTS = 2_000
MOST_SECONDS = 0.05
"""Of one step; those that are measured beside the largest objects may take four times as much."""


def task(number: int, revision: int) -> Object:
    made = valid("Task", NAMESPACE, name(number), **texts(number))
    made["metadata"] |= {"uid": f"u{number}", "resourceVersion": str(revision)}
    return made


class InOneRead:
    """An answer whose lines all come in one read, and then no more."""

    status, connection = 200, None

    def __init__(self, lines: bytes) -> None:
        self._lines, self.content = lines, self

    async def iter_any(self) -> AsyncIterator[bytes]:
        yield self._lines
        await asyncio.Event().wait()

    async def __aenter__(self) -> InOneRead:
        return self

    async def __aexit__(self, *_: object) -> None: ...


class Burst(Client):
    """An API server with these Tasks, all of which change while its watch is opened."""

    def __init__(self, lines: bytes) -> None:
        super().__init__(ConnectionInfo(server="http://127.0.0.1:9"))
        self._lines = lines

    async def read(self, *_: object, **__: object) -> tuple[list[Any], str]:
        return [], "1"

    async def _open(self, *_: object, **__: object) -> Any:
        return InOneRead(self._lines)


async def follow(lines: bytes) -> None:
    tasks = Parsed(Informer(Burst(lines), TASKS), parse)
    last = asyncio.Event()

    def shown(_: Object | None, new: Object | None) -> None:
        if new is not None and new["metadata"]["name"] == name(EVENTS - 1):
            last.set()

    tasks.informer.add_handler(shown)
    following = asyncio.create_task(tasks.informer.run())
    await last.wait()
    assert len(tasks.going(NAMESPACE)) == EVENTS
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


@pytest.mark.usefixtures("no_collection")
def test_many_events_that_come_in_one_read_are_no_step_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = [{"type": "ADDED", "object": task(n, 2 + n)} for n in range(EVENTS)]
    lines = b"".join(orjson.dumps(event) + b"\n" for event in events)

    def measured() -> float:
        with monkeypatch.context() as patch:
            steps = Steps(patch)
            began = process_time()
            asyncio.run(follow(lines))
            all_of_it = process_time() - began
        longest = f"{steps.longest * 1000:.0f} ms of {all_of_it * 1000:.0f} ms"
        print(f"\n{EVENTS:,} events in one read: the longest step took {longest}")
        return steps.longest

    longest, limit = quickest(measured, MOST_SECONDS)
    assert longest < limit
