"""The operator's own HTTP endpoint: metrics and probes, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self

from aiohttp import web

from bernstein.observe.registry import Registry

Probe = Callable[[], str | None]
"""Returns in plain words what is wrong, or None. Must not block."""


class ProbeServer:
    """Serves `/metrics`, `/healthz` and `/readyz` while entered (`async with`).

    `/healthz` answers as long as the process does, `/readyz` with 503 and a line for every check
    that fails. With `host=None` it
    listens on all interfaces. With `port=0` it takes a free port, which the attribute `port` names.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        ready: Mapping[str, Probe] | None = None,
        host: str | None = None,
        port: int = 8080,
    ) -> None:
        self.port = port
        self._host = host
        self._registry = registry
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
        body, content_type = await self._registry.scraped(request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def _healthz(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _readyz(self, _: web.Request) -> web.Response:
        return _answer(self._ready)


def _answer(checks: Mapping[str, Probe]) -> web.Response:
    problems = ((name, check()) for name, check in checks.items())
    wrong = [f"{name}: {problem}" for name, problem in problems if problem is not None]
    return web.Response(text="\n".join(wrong) or "ok", status=503 if wrong else 200)
