"""The listening socket, with callers that mean no good."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from bernstein.server.connections import Limits, guarded_protocol

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
Listen = Callable[..., AbstractAsyncContextManager["Listening"]]


@dataclass
class Listening:
    port: int
    release: asyncio.Event
    """Set: the application answers."""

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)


@pytest.fixture
def listen() -> Listen:
    @asynccontextmanager
    async def listen(**limits: Any) -> AsyncIterator[Listening]:
        release = asyncio.Event()
        release.set()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await release.wait()
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body"})

        config = uvicorn.Config(
            app, port=0, lifespan="off", log_config=None, http=guarded_protocol(Limits(**limits))
        )
        server = Quiet(config)
        serving = asyncio.create_task(server.serve())
        await server.listening.wait()
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield Listening(port, release)
        finally:
            server.should_exit = server.force_exit = True
            await serving

    return listen


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
