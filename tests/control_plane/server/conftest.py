"""The server as a process, and an agent whose pod has real tokens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.resource import key_of, uid_of
from tests.cluster.control_plane.addresses import free_ports
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.objects import AGENT_SESSIONS, valid
from tests.control_plane.server.agent import Agent, new_pod
from tests.control_plane.server.process import (
    ENVIRONMENT,
    SECONDS,
    Running,
    certificate_for_localhost,
    kubeconfig,
)


@pytest.fixture(scope="session")
def running(
    server_connection: ConnectionInfo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    certificate, key = certificate_for_localhost(folder)
    port = free_ports(["server"], set())["server"]
    arguments = (
        *("--host=127.0.0.1", f"--port={port}", "--log-level=debug"),
        *(f"--tls-cert={certificate}", f"--tls-key={key}"),
        f"--kubeconfig={kubeconfig(folder, server_connection)}",
    )
    log = folder / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "bernstein.server", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            cwd=folder,
            env=ENVIRONMENT,
        )
    try:
        yield Running(process, f"https://localhost:{port}", certificate, log)
    finally:
        process.terminate()
        process.wait(SECONDS)


@pytest.fixture
async def http(running: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with running.http() as client:

        async def ready() -> bool:
            try:
                return (await client.get("/readyz")).status_code == 200
            except httpx.TransportError:
                return False

        await eventually(ready)
        yield client


@pytest.fixture
async def agent(
    admin: Client,
    operator: Client,
    tools: Tools,
    namespace: str,
    running: Running,
    http: httpx.AsyncClient,
    tmp_path: Path,
) -> Agent:
    session = await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace, "task-s1"))
    made = await new_pod(admin, namespace, "task-s1-abcde")
    agent = Agent(tools, running, operator, session, made, tmp_path)
    await agent.status(state="Starting", job="task-s1")
    reference = {"name": key_of(made).name, "uid": uid_of(made)}
    await agent.status(state="Working", pod=reference)
    return agent
