"""The part of a node that API servers ask for what containers printed, over real HTTPS."""

from __future__ import annotations

import asyncio
import base64
import gzip
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

from bernstein.api.pod import AGENT, RECORDER
from bernstein.core.logs.packed import KEY
from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.demo.certificate import issue
from tests.resources import NODES

ADDRESS = "127.0.0.1"


def text_of(kept: Object, most: int) -> bytes:
    """The log that a ConfigMap keeps in at most so many bytes."""
    packed = base64.b64decode(kept["binaryData"][KEY])
    assert len(packed) <= most
    return gzip.decompress(packed)


class Question(NamedTuple):
    pod: str
    container: str
    query: Mapping[str, str]


class NodeLogs:
    """Every container has printed `printed`, but recorders `recorded`; where that is None it never
    gets to an answer."""

    def __init__(self) -> None:
        self.printed: bytes | None = b""
        self.recorded: bytes | None = b""
        self.recorded_of: dict[str, bytes] = {}
        """By pod, where recorders have printed different things."""
        self.asked: list[Question] = []
        """Of what checks have printed."""
        self.asked_of_agents: list[Question] = []
        self.asked_of_recorders: list[Question] = []
        self._connections: set[asyncio.Transport] = set()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            self._connections.add(request.transport)
        place = request.match_info
        question = Question(place["pod"], place["container"], dict(request.query))
        by_container = {AGENT: self.asked_of_agents, RECORDER: self.asked_of_recorders}
        by_container.get(question.container, self.asked).append(question)
        of_recorder = self.recorded_of.get(question.pod, self.recorded)
        printed = of_recorder if question.container == RECORDER else self.printed
        if printed is None:
            await asyncio.Event().wait()
        response = web.StreamResponse()
        await response.prepare(request)
        assert printed is not None
        await response.write(printed)
        await response.write_eof()
        return response

    @asynccontextmanager
    async def at(self, node: str, admin: Client, folder: Path) -> AsyncIterator[None]:
        """Answers for this node, as its status says."""
        app = web.Application()
        app.router.add_get("/containerLogs/{namespace}/{pod}/{container}", self._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, ADDRESS, 0, ssl_context=_tls(folder)).start()
        port = runner.addresses[0][1]
        try:
            await _say(admin, node, [{"type": "InternalIP", "address": ADDRESS}], port)
            yield
        finally:
            await _say(admin, node, None, 0)
            # The API server keeps them, and may answer a polite end of TLS after the test's.
            for connection in self._connections:
                connection.abort()
            await runner.cleanup()


def _tls(folder: Path) -> ssl.SSLContext:
    """The control plane that has no nodes of its own trusts whatever they show."""
    made = issue([ADDRESS])
    (folder / "node.crt").write_text(made.certificate)
    (folder / "node.key").write_text(made.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "node.crt", folder / "node.key")
    return context


async def _say(
    admin: Client, node: str, addresses: list[Mapping[str, str]] | None, port: int
) -> None:
    endpoint = {"daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}
    body = {"status": {"addresses": addresses, **endpoint}}
    await admin.patch(NODES, node, None, body, subresource="status")
