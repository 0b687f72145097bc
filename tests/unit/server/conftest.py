import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.observe.metrics import ServerMetrics
from bernstein.server.app import create_app
from bernstein.server.service import Service
from tests.unit.server.session_api import NOW, SessionApi, token

HEARTBEAT = "/v1/sessions/team/fix-s1/heartbeat"


@dataclass
class Clock:
    """Wall clock and monotonic clock of the server under test."""

    seconds: float = NOW

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Callback:
    """A recorder in pod-1, talking to the application."""

    http: httpx.AsyncClient
    token: str = field(default_factory=token)

    async def heartbeat(self, session: str = "fix-s1", **changes: Any) -> httpx.Response:
        return await self.post(f"/v1/sessions/team/{session}/heartbeat", beat(**changes))

    async def result(self, session: str = "fix-s1", **changes: Any) -> httpx.Response:
        return await self.post(f"/v1/sessions/team/{session}/result", result(**changes))

    async def post(self, path: str, body: object) -> httpx.Response:
        return await self.http.post(path, json=body, headers=self.headers)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


def problem(response: httpx.Response) -> tuple[int, str]:
    """Status and reason of an answer that is an error, which has the one shape of all errors."""
    body = response.json()
    assert set(body) == {"reason", "message", "remedy"}
    assert all(body.values())
    return response.status_code, body["reason"]


def beat(**changes: Any) -> dict[str, Any]:
    return {
        "seq": 1,
        "usage": {"input": 10, "output": 5, "cache_read": 2, "cache_write": 1},
        "model": "sonnet-4",
        "progress": "reads the tests",
        "lastActivity": NOW - 3,
        "checkpoint": None,
        **changes,
    }


def result(**changes: Any) -> dict[str, Any]:
    return {
        "base": "a" * 40,
        "sha": "b" * 40,
        "tree": "c" * 40,
        "changed": {"files": 1, "python": True, "tests": False, "deps": False},
        "usage": {"input": 100, "output": 50, "cache_read": 2, "cache_write": 1},
        "final": {"outcome": "Succeeded", "message": "Done."},
        "model": None,
        "stopped": None,
        "skipped": 0,
        **changes,
    }


@pytest.fixture
async def api() -> AsyncIterator[SessionApi]:
    async with SessionApi.running() as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def metrics() -> ServerMetrics:
    return ServerMetrics(process=False)


@pytest.fixture
async def http(
    api: SessionApi, clock: Clock, metrics: ServerMetrics
) -> AsyncIterator[httpx.AsyncClient]:
    async with api.client() as client:
        app = create_app(Service(client, metrics, now=clock, clock=clock))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("10.0.0.9", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as http:
            yield http


@pytest.fixture
def recorder(api: SessionApi, http: httpx.AsyncClient) -> Callback:
    api.session()
    return Callback(http)


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Certificate and key of `name`, self-signed."""
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", str(key)),
            *("-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key
