"""What stands before the operator does what it says, and no more than Kubernetes itself may do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import ApiError, Conflict, Gone, TooManyRequests, TransportError
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.cluster import Cluster
from tests.control_plane.controllers.crash.faults import OF_EVENTS, Asked, Fault, Faults
from tests.control_plane.controllers.crash.proxy import Crash, Proxy


class Always(Faults):
    """Every request that may meet this fault meets it, and every event of a watch."""

    def __init__(self, fault: Fault) -> None:
        super().__init__("", "")
        self._fault = fault

    def of(self, asked: Asked) -> Fault | None:
        return self._fault if self._fault.may_meet(asked) else None

    def of_event(self, _: Asked) -> Fault | None:
        return self._fault if self._fault in OF_EVENTS else None


class Clients:
    """Clients of the API server that reach it through a proxy."""

    def __init__(self, account: ConnectionInfo, stack: AsyncExitStack) -> None:
        self._account = account
        self._stack = stack

    async def behind(self, fault: Fault | None, crash: Crash | None = None) -> Client:
        faults = None if fault is None else Always(fault)
        proxy = Proxy(self._account, crash or Crash(), faults)
        await self._stack.enter_async_context(proxy)
        way = ConnectionInfo(proxy.url)
        return await self._stack.enter_async_context(Client(way))


@pytest.fixture
async def clients(cluster: Cluster, chart: None) -> AsyncIterator[Clients]:
    """The proxy has the administrator's certificate."""
    async with AsyncExitStack() as stack:
        yield Clients(ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig)), stack)


def a_config_map(namespace: str) -> Object:
    return {"metadata": {"name": "one", "namespace": namespace}, "data": {"a": "b"}}


async def there(admin: Client, namespace: str) -> bool:
    found = await admin.list(CONFIG_MAPS, namespace, field_selector="metadata.name=one")
    return bool(found.items)


NOT_APPLIED: list[tuple[Fault, type[Exception]]] = [
    (Fault.CONFLICT, Conflict),
    (Fault.TOO_MANY, TooManyRequests),
    (Fault.CUT_BEFORE, TransportError),
]
APPLIED: list[tuple[Fault, type[Exception]]] = [
    (Fault.FAILED_AFTER, ApiError),
    (Fault.CUT_AFTER, TransportError),
]


@pytest.mark.parametrize(("fault", "error"), [*NOT_APPLIED, *APPLIED])
async def test_a_write_that_goes_wrong_was_applied_or_not(
    clients: Clients, admin: Client, namespace: str, fault: Fault, error: type[Exception]
) -> None:
    client = await clients.behind(fault)
    with pytest.raises(error) as raised:
        await client.create(CONFIG_MAPS, a_config_map(namespace))
    assert await there(admin, namespace) == ((fault, error) in APPLIED)
    if isinstance(raised.value, TooManyRequests):
        assert raised.value.retry_after == 1.0


async def test_without_faults_nothing_differs_and_writes_are_counted(
    clients: Clients, admin: Client, namespace: str
) -> None:
    crash = Crash()
    client = await clients.behind(None, crash)
    made = await client.create(CONFIG_MAPS, a_config_map(namespace))
    assert made == await client.get(CONFIG_MAPS, "one", namespace)
    assert made == await admin.get(CONFIG_MAPS, "one", namespace)
    assert crash.writes == [f"POST /api/v1/namespaces/{namespace}/configmaps"]


@pytest.mark.parametrize("turns", range(5))
async def test_who_has_just_come_is_hung_up_on_at_the_end(turns: int) -> None:
    """On a busy machine somebody always has: an operator that starts asks much at once."""
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as sockets:
        async with Proxy(ConnectionInfo("http://127.0.0.1:1"), Crash(), None) as proxy:
            address = ("127.0.0.1", int(proxy.url.rpartition(":")[2]))
            came = sockets.enter_context(socket.create_connection(address))
            for _ in range(turns):
                await asyncio.sleep(0)
        came.setblocking(False)
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(10):
                assert await loop.sock_recv(came, 1) == b""


async def test_who_does_not_wait_for_the_answer_any_more_dies_of_its_write_too() -> None:
    asked, answered, killed = (asyncio.Event() for _ in range(3))

    async def create(_: web.Request) -> web.Response:
        asked.set()
        await answered.wait()
        return web.json_response({}, status=201)

    app = web.Application()
    app.router.add_post("/{path:.*}", create)
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(TestServer(app))
        way = ConnectionInfo(str(server.make_url("")).rstrip("/"))
        crash = Crash(after=1, heard=True)
        proxy = await stack.enter_async_context(Proxy(way, crash, None))
        proxy.kill = killed.set
        port = int(proxy.url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        path = "/api/v1/namespaces/a/configmaps"
        writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        await asked.wait()
        writer.transport.abort()
        await asyncio.sleep(0.2)
        answered.set()
        async with asyncio.timeout(10):
            await killed.wait()
        assert crash.writes == [f"POST {path}"]


async def events(client: Client, namespace: str, revision: str, most: int) -> list[WatchEvent]:
    found: list[WatchEvent] = []
    watch = client.watch(
        CONFIG_MAPS, namespace, resource_version=revision, field_selector="metadata.name=one"
    )
    async with aclosing(watch) as stream, asyncio.timeout(60):
        async for event in stream:
            if event.type != "BOOKMARK":
                found.append(event)
            if len(found) == most:
                break
    return found


async def test_an_event_comes_twice(clients: Clients, admin: Client, namespace: str) -> None:
    client = await clients.behind(Fault.DOUBLE)
    revision = (await admin.list(CONFIG_MAPS, namespace)).resource_version
    made = await admin.create(CONFIG_MAPS, a_config_map(namespace))
    first, second = await events(client, namespace, revision, most=2)
    assert first == second == WatchEvent("ADDED", made)


@pytest.mark.parametrize(
    ("fault", "error"), [(Fault.EXPIRED, Gone), (Fault.BROKEN, TransportError)]
)
async def test_a_watch_ends_early(
    clients: Clients, admin: Client, namespace: str, fault: Fault, error: type[Exception]
) -> None:
    client = await clients.behind(fault)
    revision = (await admin.list(CONFIG_MAPS, namespace)).resource_version
    await admin.create(CONFIG_MAPS, a_config_map(namespace))
    with pytest.raises(error):
        await events(client, namespace, revision, most=2)


async def test_who_lists_again_what_it_watches_gets_an_old_list_and_a_live_read_is_never_old(
    clients: Clients, admin: Client, namespace: str
) -> None:
    client = await clients.behind(Fault.STALE)
    before = await client.list(CONFIG_MAPS, namespace)
    made = await admin.create(CONFIG_MAPS, a_config_map(namespace))
    (event,) = await events(client, namespace, before.resource_version, most=1)
    assert event == WatchEvent("ADDED", made)
    assert await there(client, namespace), "the watch was of other objects: nothing else is old"
    watch = client.watch(CONFIG_MAPS, namespace, resource_version=before.resource_version)
    async with aclosing(watch) as stream, asyncio.timeout(60):
        await anext(stream)
    assert await client.list(CONFIG_MAPS, namespace) == before
