"""The process itself: its answers, metrics and log, what it needs, and how it ends."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from bernstein.kube.client import Client
from bernstein.server.readiness import Readiness
from tests.cluster.control_plane.addresses import free_ports
from tests.control_plane.conftest import Account, eventually
from tests.control_plane.server.agent import Agent, beat
from tests.control_plane.server.process import ENVIRONMENT, SECONDS, Running


async def test_the_answers_name_no_software_and_carry_the_headers(http: httpx.AsyncClient) -> None:
    response = await http.get("/healthz")
    assert response.json() == {"status": "ok"}
    assert "server" not in response.headers
    assert response.headers["strict-transport-security"]
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_metrics_are_served(agent: Agent, http: httpx.AsyncClient) -> None:
    await asyncio.to_thread(agent.recorder().heartbeat, beat())
    text = (await http.get("/metrics")).text
    assert 'bernstein_callbacks_total{kind="heartbeat",result="written"}' in text
    assert 'rest_client_requests_total{code="200",method="PATCH",resource="agentsessions"}' in text
    assert "process_resident_memory_bytes" in text
    assert agent.namespace not in text


async def test_the_log_names_the_session_and_holds_no_token(agent: Agent) -> None:
    token = agent.token()
    await asyncio.to_thread(agent.recorder(token).heartbeat, beat())

    def lines() -> list[str]:  # the last one may be half written
        return agent.running.log.read_text().split("\n")[:-1]

    async def logged() -> bool:  # the line is written when the answer has gone out
        return any(agent.namespace in line for line in lines())

    await eventually(logged)
    (line,) = (entry for entry in map(json.loads, lines()) if agent.namespace in entry.values())
    assert line["route"] == "/v1/sessions/{namespace}/{name}/heartbeat"
    assert (line["name"], line["status"]) == ("task-s1", 200)
    assert token.rpartition(".")[2] not in agent.running.log.read_text()


async def test_an_account_without_the_chart_s_rights_is_not_ready(
    namespace: str, account: Account, agent: Agent
) -> None:
    async with Client(account(namespace, "default")) as client:
        problem = await Readiness(client).problem()
    assert problem == "The server's account may not create tokenreviews."


async def test_on_sigterm_it_answers_what_it_has_begun_and_ends(
    agent: Agent, running: Running, tmp_path: Path
) -> None:
    port = free_ports(["server"], set())["server"]
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bernstein.server", "--host=127.0.0.1", f"--port={port}"),
            f"--kubeconfig={running.log.with_name('kubeconfig')}",
            stderr=stderr,
            env=ENVIRONMENT,
        )
    rest = asyncio.Event()

    async def slow_body() -> AsyncIterator[bytes]:
        yield b'{"seq": 1, '
        await rest.wait()
        yield b'"lastActivity": 0}'

    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=SECONDS) as http:

        async def token_was_accepted() -> bool:
            try:
                return 'token_reviews_total{result="accepted"}' in (await http.get("/metrics")).text
            except httpx.TransportError:
                return False

        await eventually(lambda: is_up(http))
        request = http.post(
            f"{agent.path}/heartbeat",
            content=slow_body(),
            headers={"Authorization": f"Bearer {agent.token()}"},
        )
        under_way = asyncio.create_task(request)
        await eventually(token_was_accepted)
        process.send_signal(signal.SIGTERM)
        await eventually(lambda: is_closed(port))
        rest.set()
        assert (await under_way).status_code == 200
    assert await asyncio.wait_for(process.wait(), SECONDS) == 0
    assert '"message": "stopped"' in log.read_text()


async def is_up(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/healthz")).status_code == 200
    except httpx.TransportError:
        return False


async def is_closed(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return True
    writer.close()
    return False
