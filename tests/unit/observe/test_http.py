import aiohttp
import pytest

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
