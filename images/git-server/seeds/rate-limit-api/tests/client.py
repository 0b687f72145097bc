"""Calls an application over its real HTTP interface, in the tests' own process."""

from __future__ import annotations

import asyncio

import httpx
from fastapi import FastAPI

HTTP_TIMEOUT_SECONDS = 5.0


class Api:
    """Calls an application in its own process, over its real HTTP interface."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def call(self, method: str, path: str, client: str = "192.0.2.1", **options) -> httpx.Response:
        return self.calls([(method, path)], client, **options)[0]

    def calls(
        self, requests: list[tuple[str, str]], client: str = "192.0.2.1", **options
    ) -> list[httpx.Response]:
        """Several requests of one client, one after another."""
        return asyncio.run(self._send(requests, client, options))

    async def _send(
        self, requests: list[tuple[str, str]], client: str, options: dict
    ) -> list[httpx.Response]:
        transport = httpx.ASGITransport(self._app, client=(client, 50000))
        async with (
            self._app.router.lifespan_context(self._app),
            httpx.AsyncClient(
                transport=transport, base_url="http://api", timeout=HTTP_TIMEOUT_SECONDS
            ) as session,
        ):
            return [await session.request(method, path, **options) for method, path in requests]
