"""What an event costs in the engine, compared with copying its object once.

The comparison holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

import asyncio
import copy
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager

import orjson
import pytest
from aiohttp import web

from bernstein.controllers.__main__ import GARBAGE
from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Controller, Result
from bernstein.kube.resource import Key, Object, Resource

TASKS = Resource("example.com", "v1", "tasks", "Task")
OBJECTS = 2_000
EVENTS = 10_000
USUAL = 700, 10, 10
"""When Python looks for garbage, where it is not told."""


def task(number: int, revision: int) -> Object:
    """About 2.5 KiB, a third of which is managedFields, as objects of that kind are."""
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "AllSignalsPassed",
        "message": "every required check passed on the exact tree",
        "lastTransitionTime": "2025-01-01T00:00:00Z",
    }
    return {
        "apiVersion": "example.com/v1",
        "kind": "Task",
        "metadata": {
            "name": f"task-{number}",
            "namespace": "team",
            "uid": f"00000000-0000-0000-0000-{number:012}",
            "resourceVersion": str(revision),
            "labels": {"app": "engine", "plan": "p"},
            "ownerReferences": [
                {"kind": "Plan", "name": "p", "uid": f"plan-{number % 50}", "controller": True}
            ],
            "managedFields": [
                {"manager": "m", "fieldsV1": {f"f:field{n}": {"f:value": {}} for n in range(25)}}
            ],
        },
        "spec": {"title": "Write the limiter", "files": [f"src/{n}.py" for n in range(20)]},
        "status": {"state": "Closed", "conditions": [condition] * 5},
    }


@pytest.fixture(scope="module")
def stream() -> bytes:
    lines = []
    for event in range(EVENTS):
        obj = task(event % OBJECTS, 1_000 + event)
        lines.append(orjson.dumps({"type": "MODIFIED", "object": obj}))
    return b"\n".join(lines) + b"\n"


@pytest.fixture
async def url(stream: bytes) -> AsyncIterator[str]:
    ended = asyncio.Event()
    listed = [task(number, number) for number in range(OBJECTS)]
    body = orjson.dumps({"metadata": {"resourceVersion": "999"}, "items": listed})

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.Response(body=body, content_type="application/json")
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        for start in range(0, len(stream), 1 << 16):
            await response.write(stream[start : start + (1 << 16)])
        if request.query["resourceVersion"] == "999":
            await ended.wait()
        return response

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    ended.set()
    await runner.cleanup()


async def decoding(client: Client, *, copies: int = 0) -> float:
    """CPU seconds to read and decode all events, and to copy each so often."""
    started = time.process_time()
    count = 0
    async with aclosing(client.watch(TASKS, resource_version="1")) as events:
        async for event in events:
            count += 1
            for _ in range(copies):
                copy.deepcopy(event.object)
    assert count == EVENTS
    return time.process_time() - started


async def handling(client: Client) -> tuple[float, int]:
    """CPU seconds until all events are cached and reconciled to no effect, and how many runs."""
    informer = Informer(client, TASKS, indexes={"owner": by_controller_uid})
    last = 1_000 + EVENTS - 1
    finished = asyncio.Event()
    runs = 0

    async def reconcile(key: Key) -> Result:
        nonlocal runs
        runs += 1
        cached = informer.get(key)
        if cached is not None and cached["metadata"]["resourceVersion"] == str(last):
            finished.set()
        return Result()

    controller = Controller("tasks", reconcile, primary=informer, guard=Guard([informer]))
    started = time.process_time()
    tasks = [asyncio.create_task(work) for work in (informer.run(), controller.run())]
    async with asyncio.timeout(60):
        await finished.wait()
    seconds = time.process_time() - started
    for running in tasks:
        running.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert informer.has_seen(Key("team", "task-0"), last)
    return seconds, runs


@contextmanager
def collecting(*threshold: int) -> Iterator[list[int]]:
    """How often garbage of each generation is looked for meanwhile, by this threshold; all that is
    there already is left out, as the operator leaves it out."""
    counts, was = [0, 0, 0], gc.get_threshold()

    def count(phase: str, info: dict[str, int]) -> None:
        counts[info["generation"]] += phase == "start"

    gc.collect()
    gc.freeze()
    gc.set_threshold(*threshold)
    gc.callbacks.append(count)
    try:
        yield counts
    finally:
        gc.callbacks.remove(count)
        gc.set_threshold(*was)
        gc.unfreeze()


async def test_garbage_is_looked_for_a_twentieth_as_often_as_by_default(url: str) -> None:
    """By counts: what a look takes depends on how much there is."""
    async with Client(ConnectionInfo(server=url)) as client:
        with collecting(*USUAL) as usual:
            await handling(client)
        with collecting(*GARBAGE) as ours:
            await handling(client)

    print(f"\n{EVENTS:,} events: looks for garbage by generation: {ours}, by default {usual}")
    assert sum(usual) > 20 * sum(ours)
    assert usual[1] > 0


async def test_an_event_costs_less_than_a_copy_of_its_object(url: str) -> None:
    async with Client(ConnectionInfo(server=url)) as client:
        decoded = min([await decoding(client) for _ in range(2)])
        copied = min([await decoding(client, copies=1) for _ in range(2)])
        handled, runs = min([await handling(client) for _ in range(2)])
    print(
        f"\nevents per CPU second: {EVENTS / decoded:,.0f} decoded, {EVENTS / copied:,.0f} decoded "
        f"and copied once, {EVENTS / handled:,.0f} handled ({runs} no-op reconciles and a first "
        f"list of {OBJECTS} included)"
    )
    assert handled < copied
