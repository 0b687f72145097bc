"""Adds security headers, metrics and one line of access log to every request."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bernstein.observe.logging import logger

log = logger("bernstein.server.access")

HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
ABOUT = {"namespace", "name"}
REASON = "bernstein.reason"
"""Key in the ASGI scope under which a handler leaves the reason of a refusal."""


class RequestCount(Protocol):
    def http_request(self, method: str, route: str, status: int, seconds: float) -> None: ...


class Wire:
    """ASGI middleware; never looks at headers or bodies of requests."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        count: RequestCount,
        frequent: Collection[str] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`frequent` are paths of routes whose successes are logged at level debug only."""
        self._app = app
        self._count = count
        self._frequent = frequent
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = self._clock()
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *_headers(scope)]
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            self._done(scope, status, self._clock() - started)

    def _done(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unmatched")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._count.http_request(method, route, status, seconds)
        write = log.debug if status < 400 and route in self._frequent else log.info
        about = {k: v for k, v in scope.get("path_params", {}).items() if k in ABOUT}
        if REASON in scope:
            about["reason"] = scope[REASON]
        write(
            "request", method=method, route=route, status=status, seconds=round(seconds, 4), **about
        )


def _headers(scope: Scope) -> list[tuple[bytes, bytes]]:
    return [*HEADERS, STRICT_TRANSPORT] if scope["scheme"] == "https" else list(HEADERS)


def peer(scope: Scope | dict[str, Any]) -> str:
    """The address that the request came from."""
    client = scope.get("client")
    return str(client[0]) if client else "unknown"
