"""What is drawn from a seed, and that all of it happens where there is something to act upon."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, suppress

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import KubeError
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.crash.faults import (
    OF_EVENTS,
    Asked,
    Fault,
    Faults,
    never_met,
)
from tests.control_plane.controllers.crash.proxy import Crash, Proxy

LIST = Asked("GET", "/api/v1/namespaces/a/pods?limit=250")
WATCH = Asked("GET", "/api/v1/namespaces/a/pods?watch=true")


def test_what_a_request_meets_depends_on_its_seed_alone() -> None:
    def met(seed: str, namespace: str) -> list[Fault | None]:
        faults = Faults(seed, namespace, most=1000)
        patch = Asked("PATCH", f"/api/v1/namespaces/{namespace}/pods/one")
        return [faults.of(patch) for _ in range(100)]

    assert met("1", "a-x") == met("1", "b-y")
    assert met("1", "a-x") != met("2", "a-x")
    assert {fault for fault in met("1", "a-x") if fault} == {
        Fault.CONFLICT,
        Fault.TOO_MANY,
        Fault.CUT_BEFORE,
        Fault.CUT_AFTER,
        Fault.FAILED_AFTER,
    }


def test_a_path_meets_few_faults() -> None:
    faults = Faults("1", "a", most=4)
    get = Asked("GET", "/api/v1/namespaces/a/pods/one")
    assert sum(faults.of(get) is not None for _ in range(1000)) == 4


def test_a_delete_meets_no_conflict() -> None:
    faults = Faults("1", "a", rate=1, most=1000)
    delete = Asked("DELETE", "/api/v1/namespaces/a/pods/one")
    assert Fault.CONFLICT not in {faults.of(delete) for _ in range(200)}


def test_a_watch_is_refused_or_cut_at_its_beginning_and_the_rest_meets_its_events() -> None:
    faults = Faults("1", "a", rate=1, most=1000)
    of_requests = {faults.of(WATCH) for _ in range(200)}
    assert of_requests == {Fault.TOO_MANY, Fault.CUT_BEFORE}
    assert {faults.of_event(WATCH) for _ in range(200)} == set(OF_EVENTS)


def test_what_is_drawn_has_not_happened_yet() -> None:
    faults = Faults("1", "a", rate=1, most=1000)
    for _ in range(200):
        faults.of(LIST)
        faults.of_event(WATCH)
    assert never_met([faults.met]) == set(Fault)


def test_what_happened_in_one_of_the_stories_has_happened() -> None:
    every = Counter(set(Fault))
    assert not never_met([Counter([fault]) for fault in Fault])
    assert never_met([every - Counter([Fault.LATE]), Counter()]) == {Fault.LATE}
    assert never_met([]) == set(Fault)


class ApiServer:
    """Of one list, which changes each time that somebody asks for anything."""

    def __init__(self) -> None:
        self._revision = 0
        self.app = web.Application()
        self.app.router.add_get("/{path:.*}", self._read)
        self.app.router.add_route("*", "/{path:.*}", self._write)

    def _object(self) -> Object:
        self._revision += 1
        return {"metadata": {"name": "one", "resourceVersion": str(self._revision)}}

    async def _read(self, request: web.Request) -> web.StreamResponse:
        obj = self._object()
        if request.query.get("watch") != "true":
            listed = {"metadata": {"resourceVersion": str(self._revision)}, "items": [obj]}
            return web.json_response(listed)
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(5):
            event = {"type": "MODIFIED", "object": self._object()}
            await response.write(json.dumps(event).encode() + b"\n")
        return response

    async def _write(self, _: web.Request) -> web.Response:
        return web.json_response(self._object())


@pytest.fixture
async def upstream() -> AsyncIterator[ConnectionInfo]:
    async with TestServer(ApiServer().app) as server:
        yield ConnectionInfo(str(server.make_url("")).rstrip("/"))


async def follow(client: Client, since: str) -> None:
    watch = client.watch(CONFIG_MAPS, "a", resource_version=since)
    async with aclosing(watch) as events:
        async for _ in events:
            pass


async def test_all_of_it_happens_to_who_lists_watches_and_writes(upstream: ConnectionInfo) -> None:
    """Each is counted when it happens: one that the proxy passed over would lack here."""
    faults = Faults("1", "a", rate=0.3, most=1000)
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(upstream, Crash(), faults))
        client = await stack.enter_async_context(Client(ConnectionInfo(proxy.url)))
        async with asyncio.timeout(60):
            while never_met([faults.met]):
                for step in (
                    client.list(CONFIG_MAPS, "a"),
                    follow(client, "0"),
                    client.patch(CONFIG_MAPS, "one", "a", {}),
                ):
                    with suppress(KubeError):
                        await step


async def test_a_stale_list_is_one_that_was_answered_before_and_never_a_first_one(
    upstream: ConnectionInfo,
) -> None:
    class Stale(Faults):
        def of(self, asked: Asked) -> Fault | None:
            return Fault.STALE if asked.is_list and not asked.is_watch else None

        def of_event(self, _: Asked) -> Fault | None:
            return None

        def delay(self, _: Asked) -> float:
            return 0.0

    async with AsyncExitStack() as stack:
        faults = Stale("", "")
        proxy = await stack.enter_async_context(Proxy(upstream, Crash(), faults))
        client = await stack.enter_async_context(Client(ConnectionInfo(proxy.url)))
        first = await client.list(CONFIG_MAPS, "a")
        unwatched = await client.list(CONFIG_MAPS, "a")
        assert int(unwatched.resource_version) > int(first.resource_version)
        assert not faults.met
        await follow(client, unwatched.resource_version)
        assert await client.list(CONFIG_MAPS, "a") == unwatched
        assert faults.met == {Fault.STALE: 1}
        proxy.hang_up()
        fresh = await client.list(CONFIG_MAPS, "a")
        assert int(fresh.resource_version) > int(unwatched.resource_version)
