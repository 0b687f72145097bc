"""The command line in a namespace of its own: called within this process, or as one of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.answer import Answer, call
from tests.cluster import Cluster
from tests.control_plane.cli.scenes import PLAN, write
from tests.control_plane.conftest import Tools
from tests.control_plane.objects import PROJECTS, valid

PACKAGE = Path(__file__).parents[3] / "operator"

Start = Callable[..., Awaitable[asyncio.subprocess.Process]]
Bernstein = Callable[..., Awaitable[Answer]]
COLUMNS = {"COLUMNS": "120"}


@pytest.fixture
def given(cluster: Cluster, namespace: str) -> tuple[str, ...]:
    """In every call: the administrator's kubeconfig, and the test's namespace."""
    return ("--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace)


@pytest.fixture
def start(given: tuple[str, ...]) -> Start:
    """Starts the command line as a process."""

    async def started(*arguments: str, **environment: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error"),
            # An interrupt may fall into a handshake; its socket is closed with the process.
            *("-W", "ignore:unclosed:ResourceWarning", "-c"),
            "from bernstein.cli.main import main; main()",
            *given,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PACKAGE)} | COLUMNS | environment,
        )

    return started


@pytest.fixture
def bernstein(given: tuple[str, ...]) -> Bernstein:
    """Calls the command line within this process, which saves a second of processor time."""

    async def called(*arguments: str, **environment: str) -> Answer:
        return await call(*given, *arguments, environment=COLUMNS | environment)

    return called


@pytest.fixture
def process(start: Start) -> Bernstein:
    """Calls it as a process of its own, as people do."""

    async def run(*arguments: str, **environment: str) -> Answer:
        return await ended(await start(*arguments, **environment))

    return run


async def ended(process: asyncio.subprocess.Process) -> Answer:
    async with asyncio.timeout(120):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Answer(process.returncode, out.decode(), err.decode())


@pytest.fixture
def plan_file(tmp_path: Path) -> str:
    path = str(tmp_path / "plan.yaml")
    write(path, PLAN)
    return path


@pytest.fixture
async def project(admin: Client, namespace: str) -> Object:
    return await admin.create(PROJECTS, valid("Project", namespace, "default"))


KubeconfigOf = Callable[[str], str]


@pytest.fixture
def kubeconfig_of(tools: Tools, namespace: str, tmp_path: Path) -> KubeconfigOf:
    """Service account of the namespace -> path of its kubeconfig."""

    def written(account: str) -> str:
        token = tools.kubectl("create", "token", account, "-n", namespace).strip()
        config = json.loads(tools.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
        users = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
        path = tmp_path / f"kubeconfig-of-{account}"
        path.write_text(json.dumps(config | {"users": users}))
        return str(path)

    return written


@pytest.fixture
def stranger(tools: Tools, namespace: str, kubeconfig_of: KubeconfigOf) -> str:
    """Kubeconfig of an account without any rights."""
    tools.kubectl("create", "serviceaccount", "stranger", "-n", namespace)
    return kubeconfig_of("stranger")
