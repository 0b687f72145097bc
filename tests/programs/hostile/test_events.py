"""Who may write Events says as many megabytes about a pod as he likes."""

from __future__ import annotations

import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import orjson
from aiohttp import test_utils, web

from bernstein.api.meta import Metadata
from bernstein.controllers.job_views import OWNER, POD_INDEXES, JobViews
from bernstein.core import labels
from bernstein.core.jobs import JobView
from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.informer import Informer
from bernstein.kube.resource import EVENTS, JOBS, PODS, Object

NOW = datetime(2030, 1, 1, tzinfo=UTC)
MADE = "2029-12-31T23:59:00Z"
OURS = Metadata(name="work", namespace="team", uid="u")
MEGABYTE = 2**20
NUMBER = 16
_EVENT = orjson.dumps({"reason": "FailedCreate", "message": "\N{GRINNING FACE}" + "x" * MEGABYTE})


@asynccontextmanager
async def api() -> AsyncIterator[Client]:
    """An API server that has so many Events of a megabyte, and none of them in its own memory."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"metadata": {"resourceVersion": "1"}, "items": [')
        for number in range(NUMBER):
            await response.write(b"," if number else b"")
            for start in range(0, len(_EVENT), 65_536):
                await response.write(_EVENT[start : start + 65_536])
        await response.write(b"]}")
        return response

    server = test_utils.RawTestServer(answer)
    await server.start_server()
    connection = ConnectionInfo(server=str(server.make_url("")))
    async with server, Client(connection) as client:
        yield client


async def look(client: Client) -> JobView:
    """What is known of a Job that gets no pod, and about which these Events are."""
    owner = {"kind": "Task", "name": "work", "uid": "u", "controller": True}
    own = {labels.OWNER_UID: "u", labels.JOB: "check"}
    meta = {"name": "j", "namespace": "team", "uid": "v", "resourceVersion": "1", "labels": own}
    job: Object = {"metadata": meta | {"ownerReferences": [owner], "creationTimestamp": MADE}}
    jobs = Informer(client, JOBS, indexes={OWNER: by_controller_uid})
    jobs.take(ObjectList([job], "1"))
    views = JobViews(client, jobs, Informer(client, PODS, indexes=POD_INDEXES))
    return (await views.of(OURS, NOW))["j"]


async def test_events_of_many_megabytes_about_a_job_take_no_memory() -> None:
    async with api() as client:
        tracemalloc.start()
        try:
            whole = (await client.list(EVENTS, "team")).items
            held = tracemalloc.get_traced_memory()[0]
            assert len(whole) == NUMBER
            assert held > 4 * NUMBER * MEGABYTE, "a character of four bytes makes all of them so"
            del whole
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]

            view = await look(client)

            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert view.events == ()
    assert peak - before < 8 * MEGABYTE
