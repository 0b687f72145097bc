"""The listening socket, with callers that mean no good."""

import asyncio
import contextlib
import tracemalloc
from asyncio import constants, sslproto
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from bernstein.server.http import connections
from bernstein.server.http.connections import (
    TLS_BUFFER_BYTES,
    ConnectionLimits,
    GuardedProtocol,
    guarded_protocol,
)
from bernstein.server.http.connections import listen as listen_on
from tests.unit.server.conftest import make_certificate

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
HELLO = bytes.fromhex("16030100050100")
"""The beginning of a TLS handshake."""
Listen = Callable[..., AbstractAsyncContextManager["Listening"]]


@dataclass
class Listening:
    port: int
    limits: ConnectionLimits
    release: asyncio.Event
    """Set: the application answers."""

    async def connect(
        self, address: str = "127.0.0.1"
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """From this address of ours."""
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address, 0))

    async def accepted(self, connections: int) -> None:
        """Waits until the server holds so many."""
        async with asyncio.timeout(5):
            while True:
                if self.limits.held.total() >= connections:
                    return
                await asyncio.sleep(0.01)


@pytest.fixture
def listen() -> Listen:
    @asynccontextmanager
    async def listen(
        head_seconds: float = 10, tls: tuple[Path, Path] | None = None, **limits: int
    ) -> AsyncIterator[Listening]:
        release = asyncio.Event()
        release.set()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await release.wait()
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

        config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            http=guarded_protocol(head_seconds),
            ssl_certfile=tls and tls[0],
            ssl_keyfile=tls and tls[1],
        )
        server = Quiet(config)
        listener = listen_on("127.0.0.1", 0, ConnectionLimits(**limits))
        port = listener.getsockname()[1]
        serving = asyncio.create_task(server.serve([listener]))
        await server.listening.wait()
        try:
            yield Listening(port, listener.limits, release)
        finally:
            server.should_exit = server.force_exit = True
            await serving

    return listen


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"), "localhost")


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS as the server's process has it, only faster; undone after the test."""
    monkeypatch.setattr(sslproto.SSLProtocol, "max_size", sslproto.SSLProtocol.max_size)
    monkeypatch.setattr(constants, "SSL_HANDSHAKE_TIMEOUT", constants.SSL_HANDSHAKE_TIMEOUT)
    monkeypatch.setattr(connections, "HANDSHAKE_SECONDS", 0.1)
    connections.bound_tls()


class Quiet(uvicorn.Server):
    """Leaves the signals of the test process alone and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    def capture_signals(self) -> Any:
        return contextlib.nullcontext()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()


async def was_closed(reader: asyncio.StreamReader) -> bool:
    try:
        async with asyncio.timeout(5):
            return await reader.read() == b""
    except ConnectionResetError:
        return True


async def test_no_more_is_read_at_once_without_tls_than_with_it(
    listen: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    received = GuardedProtocol.data_received

    def noted(self: GuardedProtocol, data: bytes) -> None:
        read.append(len(data))
        received(self, data)

    monkeypatch.setattr(GuardedProtocol, "data_received", noted)
    async with listen() as listening:
        reader, writer = await listening.connect()
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n"
        writer.write(head + b"x" * 200_000)
        assert b"204" in await reader.readline()
        writer.close()
    assert max(read) == TLS_BUFFER_BYTES


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
async def test_who_does_not_finish_a_request_is_cut_off(listen: Listen, sent: bytes) -> None:
    async with listen(head_seconds=0.05) as listening:
        reader, writer = await listening.connect()
        writer.write(sent)
        assert await was_closed(reader)
        writer.close()


async def test_drop_by_drop_is_no_way_around(listen: Listen) -> None:
    async with listen(head_seconds=0.2) as listening:
        reader, writer = await listening.connect()

        async def drip() -> None:
            while True:
                writer.write(b"x")
                await asyncio.sleep(0.01)

        dripping = asyncio.create_task(drip())
        assert await was_closed(reader)
        dripping.cancel()
        writer.close()


async def test_a_second_request_has_to_arrive_as_well(listen: Listen) -> None:
    async with listen(head_seconds=0.5) as listening:
        reader, writer = await listening.connect()
        writer.write(GET)
        assert b"204" in await reader.readuntil(b"\r\n\r\n")
        writer.write(GET[:10])
        assert await was_closed(reader)
        writer.close()


async def test_an_answer_may_take_its_time(listen: Listen) -> None:
    async with listen(head_seconds=0.5) as listening:
        listening.release.clear()
        reader, writer = await listening.connect()
        writer.write(GET)
        asyncio.get_running_loop().call_later(0.7, listening.release.set)
        assert b"204" in await reader.readuntil(b"\r\n\r\n")
        writer.close()


async def test_one_address_holds_only_so_many_connections(listen: Listen) -> None:
    async with listen(per_address=3) as listening:
        held = [await listening.connect() for _ in range(3)]
        for reader, writer in held:
            writer.write(GET)
            assert b"204" in await reader.readuntil(b"\r\n\r\n")
        reader, writer = await listening.connect()
        assert await was_closed(reader)
        writer.close()

        held[0][1].close()
        await held[0][1].wait_closed()
        assert await answered(listening)
        for _, writer in held[1:]:
            writer.close()


async def test_who_does_not_even_begin_tls_counts_as_well(
    listen: Listen, certificate: tuple[Path, Path]
) -> None:
    async with listen(tls=certificate, per_address=3) as listening:
        held = [await listening.connect() for _ in range(3)]
        reader, writer = await listening.connect()
        assert await was_closed(reader)
        for each in (writer, *(writer for _, writer in held)):
            each.close()


async def test_all_addresses_together_hold_only_so_many_connections(listen: Listen) -> None:
    async with listen(connections=2) as listening:
        held = [await listening.connect("127.0.0.2"), await listening.connect("127.0.0.3")]
        reader, writer = await listening.connect("127.0.0.4")
        assert await was_closed(reader)
        writer.close()
        held[0][1].close()
        assert await answered(listening)
        held[1][1].close()


def test_whoever_holds_few_connections_gets_one_while_others_take_all_that_they_can() -> None:
    limits = ConnectionLimits()
    greedy = [f"10.0.0.{number}" for number in range(20)]

    while sum(map(limits.take, greedy)):
        continue

    assert limits.held.total() <= limits.connections * 3 // 4
    assert all(limits.take("10.1.0.1") for _ in range(connections.FEW))
    assert limits.take("10.1.0.2")


@pytest.mark.parametrize("sent", [b"", HELLO])
async def test_who_does_not_finish_the_handshake_is_cut_off(
    listen: Listen, certificate: tuple[Path, Path], bounded: None, sent: bytes
) -> None:
    async with listen(tls=certificate) as listening:
        reader, writer = await listening.connect()
        writer.write(sent)
        assert await was_closed(reader)
        writer.close()


async def test_a_silent_connection_costs_little(
    listen: Listen, certificate: tuple[Path, Path], bounded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "SSL_HANDSHAKE_TIMEOUT", 60.0)
    async with listen(tls=certificate) as listening:
        tracemalloc.start()
        try:
            writers = [(await listening.connect())[1] for _ in range(50)]
            await listening.accepted(50)
            allocated, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        for writer in writers:
            writer.close()
    assert allocated / 50 < 64 * 1024


async def answered(listening: Listening) -> bool:
    """The server notices a closed connection a moment later."""
    async with asyncio.timeout(5):
        while True:
            reader, writer = await listening.connect()
            try:
                writer.write(GET)
                return b"204" in await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                await asyncio.sleep(0.01)
            finally:
                writer.close()
