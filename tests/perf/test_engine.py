"""What an event costs in the engine, as a ratio to reading and decoding the same bytes.

Ratios hold on any machine; the absolute figures are printed (``pytest -s``) for the reference.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import orjson
import pytest
from aiohttp import web

from bernstein.kube.cache import by_owner_uid
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.guard import Guard
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Controller, Result
from bernstein.kube.resource import Key, Object, Resource

TASKS = Resource("example.com", "v1", "tasks", "Task")
OBJECTS = 2_000
EVENTS = 10_000
RATIO = 4.0


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
            await asyncio.sleep(60)
        return response

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def decoding(client: Client) -> float:
    """Seconds to read and decode all events and do nothing with them."""
    started = time.perf_counter()
    async with aclosing(client.watch(TASKS, resource_version="1")) as events:
        assert len([None async for _ in events]) == EVENTS
    return time.perf_counter() - started


async def handling(client: Client) -> tuple[float, int]:
    """Seconds until all events are in the cache and reconciled to no effect, and how many runs."""
    informer = Informer(client, TASKS, indexes={"owner": by_owner_uid})
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
    started = time.perf_counter()
    tasks = [asyncio.create_task(work) for work in (informer.run(), controller.run())]
    async with asyncio.timeout(60):
        await finished.wait()
    seconds = time.perf_counter() - started
    for running in tasks:
        running.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert informer.has_seen(Key("team", "task-0"), last)
    return seconds, runs


async def test_handling_an_event_costs_little_more_than_decoding_it(url: str) -> None:
    async with Client(ConnectionInfo(server=url)) as client:
        decoded = min([await decoding(client) for _ in range(3)])
        results = [await handling(client) for _ in range(3)]
    handled, runs = min(results)
    print(
        f"\n{EVENTS / decoded:,.0f} events/s decoded, {EVENTS / handled:,.0f} events/s handled "
        f"({runs} no-op reconciles, first list of {OBJECTS} included): ratio {handled / decoded:.2f}"
    )
    assert handled < RATIO * decoded
