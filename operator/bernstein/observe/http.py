"""The operator's own HTTP endpoint: metrics and probes, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from aiohttp import web
from prometheus_client import CollectorRegistry

from bernstein.observe.registry import render

Check = Callable[[], str | None]
"""Returns what is wrong, in plain words, or None. Must not block."""


class ProbeServer:
    """Serves `/metrics`, `/healthz` and `/readyz` while entered (`async with`).

    A probe answers 200 `ok`, or 503 with one line for every check that fails. `host=None` listens
    on all interfaces; `port=0` takes a free one, and `port` then says which.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        live: Mapping[str, Check] | None = None,
        ready: Mapping[str, Check] | None = None,
        host: str | None = None,
        port: int = 8080,
    ) -> None:
        self.port = port
        self._host = host
        self._registry = registry
        self._live = dict(live or {})
        self._ready = dict(ready or {})
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=2.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self.port).start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        self.port = runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _metrics(self, request: web.Request) -> web.Response:
        body, content_type = render(self._registry, request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _healthz(self, _: web.Request) -> web.Response:
        return _answer(self._live)

    async def _readyz(self, _: web.Request) -> web.Response:
        return _answer(self._ready)


def _answer(checks: Mapping[str, Check]) -> web.Response:
    found = ((name, check()) for name, check in checks.items())
    wrong = [f"{name}: {problem}" for name, problem in found if problem is not None]
    return web.Response(text="\n".join(wrong) or "ok", status=503 if wrong else 200)
