import asyncio
from threading import Event

import aiohttp
import pytest
from prometheus_client import Metric
from prometheus_client.registry import Collector

from bernstein.observe.http import ProbeServer
from bernstein.observe.metrics import Metrics

HOST = "127.0.0.1"


async def get(server: ProbeServer, path: str) -> tuple[int, str]:
    url = f"http://{HOST}:{server.port}{path}"
    async with aiohttp.ClientSession() as http, http.get(url) as response:
        return response.status, await response.text()


async def test_probes_without_checks_are_fine() -> None:
    async with ProbeServer(Metrics().registry, host=HOST, port=0) as server:
        assert await get(server, "/healthz") == (200, "ok")
        assert await get(server, "/readyz") == (200, "ok")


async def test_a_probe_follows_its_checks() -> None:
    problem: str | None = "caches are not filled yet"
    checks = {"informers": lambda: problem, "lease": lambda: None}
    async with ProbeServer(Metrics().registry, ready=checks, host=HOST, port=0) as server:
        assert await get(server, "/readyz") == (503, "informers: caches are not filled yet")
        assert await get(server, "/healthz") == (200, "ok")
        problem = None
        assert await get(server, "/readyz") == (200, "ok")


async def test_metrics_are_served_from_the_given_registry() -> None:
    metrics = Metrics()
    metrics.session_started("team", "codex")
    async with ProbeServer(metrics.registry, host=HOST, port=0) as server:
        status, body = await get(server, "/metrics")
    assert status == 200
    assert 'bernstein_sessions_started_total{adapter="codex",namespace="team"} 1.0' in body


class Waits(Collector):
    """Gathers nothing before the event loop has been at work."""

    def __init__(self) -> None:
        self.begun, self.may_end, self.at_work = Event(), Event(), 0
        self.most = 0

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> list[Metric]:
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        self.begun.set()
        assert self.may_end.wait(10), "nobody else was at work meanwhile"
        self.at_work -= 1
        return []


async def test_what_prometheus_reads_is_gathered_beside_the_loop_one_scrape_at_a_time() -> None:
    metrics, waits = Metrics(), Waits()
    metrics.registry.register(waits)
    async with ProbeServer(metrics.registry, host=HOST, port=0) as server:
        scrapes = [asyncio.create_task(get(server, "/metrics")) for _ in range(3)]
        await asyncio.to_thread(waits.begun.wait, 10)
        assert await get(server, "/healthz") == (200, "ok")
        waits.may_end.set()
        assert [status for status, _ in await asyncio.gather(*scrapes)] == [200, 200, 200]
    assert waits.most == 1


async def test_nothing_else_is_served() -> None:
    async with ProbeServer(Metrics().registry, host=HOST, port=0) as server:
        assert (await get(server, "/debug"))[0] == 404


async def test_it_listens_no_longer_than_it_is_entered() -> None:
    async with ProbeServer(Metrics().registry, host=HOST, port=0) as server:
        pass
    with pytest.raises(aiohttp.ClientConnectorError):
        await get(server, "/healthz")


async def test_a_taken_port_is_an_error() -> None:
    async with ProbeServer(Metrics().registry, host=HOST, port=0) as server:
        other = ProbeServer(Metrics().registry, host=HOST, port=server.port)
        with pytest.raises(OSError, match="address already in use"):
            await other.__aenter__()
