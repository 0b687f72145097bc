"""What surrounds every request: security headers and the access log."""

import io
import logging
from collections.abc import Iterator

import httpx
import pytest
import structlog

from bernstein.observe.logging import configure
from tests.unit.server.conftest import HEARTBEAT, Callback, beat


async def test_every_answer_carries_the_security_headers(http: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/nothing", "/metrics", "/openapi.json"):
        headers = (await http.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "strict-transport-security" not in headers
        assert "server" not in headers
    secure = await http.get("https://server/healthz")
    assert secure.headers["strict-transport-security"] == "max-age=31536000"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure(sanitise=lambda value: value, level="debug", stream=stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


async def test_the_access_log_has_the_route_but_neither_token_nor_query(
    recorder: Callback, log: io.StringIO
) -> None:
    await recorder.post(f"{HEARTBEAT}?key=hunter2", beat())
    await recorder.http.get("/hunter2", headers=recorder.headers)
    written = log.getvalue()
    assert '"route": "/v1/sessions/{namespace}/{name}/heartbeat"' in written
    assert '"status": 200' in written
    assert '"name": "fix-s1"' in written
    assert "hunter2" not in written
    assert recorder.token not in written
    assert recorder.token.rpartition(".")[2] not in written


async def test_the_access_log_leaves_out_what_comes_all_the_time(
    recorder: Callback, log: io.StringIO
) -> None:
    logging.getLogger().setLevel("INFO")
    await recorder.heartbeat()
    await recorder.http.get("/readyz")
    assert log.getvalue() == ""
    await recorder.result()
    assert '"status": 200' in log.getvalue()


async def test_the_access_log_says_why_a_call_was_refused(
    recorder: Callback, log: io.StringIO
) -> None:
    await recorder.heartbeat("gone-s1")
    assert '"reason": "SessionNotFound"' in log.getvalue()
