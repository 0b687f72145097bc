"""Probes: the process, and whether it can do its work."""

import httpx

from tests.unit.server.conftest import Clock, problem
from tests.unit.server.session_api import SessionApi


async def test_health_is_the_process_alone(api: SessionApi, http: httpx.AsyncClient) -> None:
    api.fault = lambda _: "drop-before"
    assert (await http.get("/healthz")).json() == {"status": "ok"}
    assert api.calls == []


async def test_ready_means_that_the_api_server_lets_us_work(
    api: SessionApi, http: httpx.AsyncClient
) -> None:
    assert (await http.get("/readyz")).status_code == 200
    asked = [call.body["spec"]["resourceAttributes"] for call in api.calls]
    assert [(need["verb"], need["resource"], need.get("subresource")) for need in asked] == [
        ("create", "tokenreviews", None),
        ("get", "agentsessions", None),
        ("patch", "agentsessions", "status"),
    ]


async def test_many_probes_ask_the_api_server_once(
    api: SessionApi, http: httpx.AsyncClient, clock: Clock
) -> None:
    for _ in range(20):
        await http.get("/readyz")
    assert len(api.calls) == 3
    clock.seconds += 5
    await http.get("/readyz")
    assert len(api.calls) == 6


async def test_not_ready_says_why(api: SessionApi, http: httpx.AsyncClient, clock: Clock) -> None:
    api.denied = {"tokenreviews"}
    response = await http.get("/readyz")
    assert problem(response) == (503, "NotReady")
    assert "may not create tokenreviews" in response.json()["message"]

    api.fault = lambda _: "drop-before"
    clock.seconds += 5
    response = await http.get("/readyz")
    assert problem(response) == (503, "NotReady")
    assert "did not answer" in response.json()["message"]
