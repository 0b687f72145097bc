"""What stands between an operator and the API server: it counts writes, and does what goes wrong.

operator ── http ──▶ Proxy ── https ──▶ kube-apiserver
                      │ before: 409, 429, a dropped connection
                      │ after:  500, a dropped connection, a list that is old, the kill
                      │ watch:  late, twice, cut off, 410
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field

import aiohttp
import yarl
from aiohttp import web

from bernstein.kube import answers
from bernstein.kube.config import ConnectionInfo
from tests.control_plane.controllers.crash.faults import (
    BEFORE,
    LATEST,
    Asked,
    Fault,
    Faults,
    status,
)

PASSED_ON = ("Authorization", "Content-Type", "Accept", "User-Agent")
REFUSALS = {
    Fault.CONFLICT: (409, "Conflict", "the object has been modified; please apply your changes"),
    Fault.TOO_MANY: (429, "TooManyRequests", "the server is busy"),
    Fault.FAILED_AFTER: (500, "InternalError", "the answer was lost on its way"),
}
ACCEPTED_TURNS = 5
"""Of the loop, at most, until a server knows of a connection that was accepted: it closes no others
at its end, and one that it hears of after that is left open."""
EXPIRED = status(410, "Expired", "too old resource version")


@dataclass
class Crash:
    """After which write of a story an operator is killed; None: after none.

    `heard`: it gets the answer first. Else it dies while it waits for it.
    """

    after: int | None = None
    heard: bool = False
    writes: list[str] = field(default_factory=list)
    """VERB path of every write that was applied, in that order."""

    def applied(self, asked: Asked) -> bool:
        """Notes a write; True: whoever sent it dies of it."""
        self.writes.append(f"{asked.verb} {asked.path}")
        return len(self.writes) == self.after


@dataclass(frozen=True)
class Answer:
    code: int
    body: bytes
    type: str = "application/json"


class Proxy:
    """One operator's way to the API server. Use `async with`; `kill` ends that operator's process.

    `faults` None: nothing goes wrong.
    """

    def __init__(self, upstream: ConnectionInfo, crash: Crash, faults: Faults | None) -> None:
        self.url = ""
        self.kill: Callable[[], None] = lambda: None
        self._upstream = upstream
        self._crash = crash
        self._faults = faults
        self._lists: dict[str, Answer] = {}
        """By target, what was answered last to each list."""
        self._watched: set[tuple[str, str, str]] = set()
        self._watches: set[asyncio.Task[object]] = set()

    async def __aenter__(self) -> Proxy:
        self._pool = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._upstream.ssl_context(), limit=0),
            timeout=aiohttp.ClientTimeout(total=None),
            skip_auto_headers=("Accept-Encoding",),
        )
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        assert self._runner.server is not None
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._runner.server, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.hang_up()
        for listening in self._server.sockets:
            asyncio.get_running_loop().remove_reader(listening.fileno())
        for _turn in range(ACCEPTED_TURNS):
            await asyncio.sleep(0)
        self._server.close()
        await self._runner.cleanup()
        # A server forgets a request whose connection is lost, and does not wait for its end.
        while self._watches:
            self.hang_up()
            await asyncio.wait(self._watches)
        await self._pool.close()

    def hang_up(self) -> None:
        """Whoever asked is gone: nobody listens to the watches any more, and what was listed is no
        older than what the next one has seen."""
        self._lists.clear()
        self._watched.clear()
        for watch in self._watches:
            watch.cancel()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(request.method, request.raw_path, await request.read())
        fault = self._faults.of(asked) if self._faults else None
        if fault is Fault.CUT_BEFORE:
            self._happened(fault)
            return _cut(request)
        if fault in BEFORE:
            self._happened(fault)
            return _answer(_refusal(fault))
        if asked.is_watch:
            return await self._watch(request, asked)
        answer = await self._ask(request, asked)
        if asked.is_work and answer.code < 300 and self._crash.applied(asked):
            return await self._die(request, answer)
        if fault is Fault.CUT_AFTER:
            self._happened(fault)
            return _cut(request)
        if fault is Fault.FAILED_AFTER and answer.code < 300:
            self._happened(fault)
            return _answer(_refusal(fault))
        return _answer(await self._listed(asked, answer, stale=fault is Fault.STALE))

    def _happened(self, fault: Fault) -> None:
        assert self._faults is not None
        self._faults.met[fault] += 1

    async def _ask(self, request: web.Request, asked: Asked) -> Answer:
        async with self._send(request, asked) as response:
            return Answer(response.status, await response.read(), response.content_type)

    @contextlib.asynccontextmanager
    async def _send(
        self, request: web.Request, asked: Asked
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        address = self._upstream.server + asked.target
        async with self._pool.request(
            asked.verb, yarl.URL(address, encoded=True), data=asked.body or None, headers=headers
        ) as response:
            yield response

    async def _die(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        if not self._crash.heard:
            self.kill()
            return _cut(request)
        response = _answer(answer)
        try:
            await response.prepare(request)
            await response.write_eof()
        except ConnectionError:
            return _cut(request)  # it does not wait for the answer any more
        finally:
            self.kill()
        return response

    async def _listed(self, asked: Asked, answer: Answer, *, stale: bool) -> Answer:
        """A list as it is; a stale one as it was when the same was listed before.

        That is for who lists again what it watches: it has seen newer by then, and can tell. A read
        of what nobody watches that way, and a first list, are as of the question: Kubernetes
        promises that, and what is decided by them rests on it. A stale one of those is on its way
        for long, so that events overtake it.
        """
        if not asked.is_list or answer.code >= 300:
            return answer
        kept = self._lists.get(asked.target)
        is_newer = kept is None or _revision(kept) < _revision(answer)
        if stale and kept is not None and is_newer and asked.objects in self._watched:
            self._happened(Fault.STALE)
            return kept
        self._lists[asked.target] = answer
        if stale:
            await asyncio.sleep(LATEST)
        return answer

    async def _watch(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        watch = asyncio.current_task()
        assert watch is not None
        self._watches.add(watch)
        self._watched.add(asked.objects)
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        try:
            async with self._send(request, asked) as source:
                response.set_status(source.status)
                await response.prepare(request)
                try:
                    await self._pass_on(request, response, asked, source)
                finally:
                    _abort(source)
        except (aiohttp.ClientError, ConnectionError):
            return _cut(request)
        finally:
            self._watches.discard(watch)
        return response

    async def _pass_on(
        self,
        request: web.Request,
        response: web.StreamResponse,
        asked: Asked,
        source: aiohttp.ClientResponse,
    ) -> None:
        delay = self._faults.delay(asked) if self._faults else 0.0
        async with contextlib.aclosing(_late(answers.lines(source), delay)) as lines:
            async for line in lines:
                fault = self._faults.of_event(asked) if self._faults else None
                if delay:
                    self._happened(Fault.LATE)
                if fault is not None:
                    self._happened(fault)
                if fault is Fault.BROKEN:
                    await response.write(line[: len(line) // 2])
                    _cut(request)
                    return
                await response.write(line + b"\n")
                if fault is Fault.DOUBLE:
                    await response.write(line + b"\n")
                if fault is Fault.EXPIRED:
                    await response.write(b'{"type":"ERROR","object":' + EXPIRED + b"}\n")
                    return


async def _late(lines: AsyncIterator[bytes], delay: float) -> AsyncGenerator[bytes, None]:
    """Each line so many seconds after it came; in their order, and without holding up the next."""
    waiting: asyncio.Queue[tuple[float, bytes | None]] = asyncio.Queue()

    async def read() -> None:
        try:
            async for line in lines:
                waiting.put_nowait((time.monotonic() + delay, line))
        finally:
            waiting.put_nowait((0.0, None))

    reading = asyncio.create_task(read())
    try:
        while True:
            due, line = await waiting.get()
            if line is None:
                return
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            yield line
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _revision(listed: Answer) -> int:
    return int(json.loads(listed.body)["metadata"]["resourceVersion"])


def _answer(answer: Answer) -> web.Response:
    headers = {"Retry-After": "1"} if answer.code == 429 else {}
    return web.Response(
        status=answer.code, body=answer.body, content_type=answer.type, headers=headers
    )


def _refusal(fault: Fault) -> Answer:
    code, reason, message = REFUSALS[fault]
    return Answer(code, status(code, reason, message))


def _cut(request: web.Request) -> web.Response:
    """The connection is gone, whatever the handler returns."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _abort(source: aiohttp.ClientResponse) -> None:
    """A regular end of TLS would wait for a stream that goes on."""
    if source.connection is not None and source.connection.transport is not None:
        source.connection.transport.abort()
