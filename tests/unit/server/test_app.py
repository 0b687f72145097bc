"""The HTTP surface: bodies, probes, metrics, headers and the shape of errors."""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import structlog

from bernstein.observe.logging import configure
from bernstein.observe.metrics import ServerMetrics
from bernstein.server import body
from tests.unit.server.conftest import Callback, Clock, beat
from tests.unit.server.session_api import SessionApi, token

PATH = "/v1/sessions/team/fix-s1/heartbeat"


def reason(response: httpx.Response) -> tuple[int, str]:
    assert set(response.json()) == {"reason", "message", "remedy"}
    return response.status_code, response.json()["reason"]


async def send(recorder: Callback, content: bytes) -> httpx.Response:
    return await recorder.http.post(PATH, content=content, headers=recorder.headers)


async def test_a_body_over_the_limit_is_refused_by_its_declared_length(recorder: Callback) -> None:
    assert reason(await send(recorder, b" " * (body.MAX_BYTES + 1))) == (413, "BodyTooLarge")


async def test_a_body_over_the_limit_is_refused_while_it_is_read(recorder: Callback) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(1000):
            sent += 16 * 1024
            yield b" " * (16 * 1024)

    response = await recorder.http.post(PATH, content=endless(), headers=recorder.headers)
    assert reason(response) == (413, "BodyTooLarge")
    assert sent <= body.MAX_BYTES + 32 * 1024


async def test_a_lying_or_odd_length_is_refused(recorder: Callback) -> None:
    for length in ("-1", "1e3", "٣", "9" * 5000):
        headers = [*recorder.headers.items(), ("Content-Length", length)]
        encoded = [(name.encode(), value.encode()) for name, value in headers]
        response = await recorder.http.post(PATH, content=b"{}", headers=encoded)
        assert reason(response) == (413, "BodyTooLarge")


async def test_a_body_of_exactly_the_limit_is_read(recorder: Callback) -> None:
    padded = httpx.Request("POST", "http://x", json=beat()).content.ljust(body.MAX_BYTES)
    assert (await send(recorder, padded)).status_code == 200


async def test_a_body_that_never_ends_is_given_up(
    recorder: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stuck() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    monkeypatch.setattr(body, "MAX_SECONDS", 0.05)
    response = await recorder.http.post(PATH, content=stuck(), headers=recorder.headers)
    assert reason(response) == (408, "BodyTimeout")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"1", b'{"seq": NaN}', b"\xff\xfe", b'{"a": "\xed\xa0\x80"}'],
)
async def test_what_is_no_json_object_is_refused(recorder: Callback, content: bytes) -> None:
    assert reason(await send(recorder, content)) == (422, "InvalidJson")


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
async def test_deep_json_is_refused(recorder: Callback, opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    for depth in (16, 500, 20_000 // len(opening)):
        nested = b'{"x":' + opening * depth + b"1" + closing * depth + b"}"
        response = await send(recorder, nested)
        assert response.status_code == 422
        assert response.json()["reason"] in {"TooDeep", "InvalidJson"}


async def test_a_stranger_is_refused_before_the_body_is_looked_at(recorder: Callback) -> None:
    recorder.token = token("bad")
    response = await send(recorder, b"{")
    assert reason(response) == (401, "Unauthenticated")
    assert response.headers["connection"] == "close"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/sessions/team/UPPER/heartbeat",
        "/v1/sessions/team/a%2Fb/heartbeat",
        "/v1/sessions/te.am%20/x/heartbeat",
        "/v1/sessions/team/%2e%2e/heartbeat",
        "/v1/sessions/team/" + "x" * 300 + "/heartbeat",
    ],
)
async def test_what_is_no_name_never_reaches_the_api_server(
    api: SessionApi, recorder: Callback, path: str
) -> None:
    response = await recorder.post(path, beat())
    assert response.status_code in {404, 405, 422}
    assert set(response.json()) == {"reason", "message", "remedy"}
    assert api.count("GET", "agentsessions") == 0


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/", (404, "NoSuchRoute")),
        ("GET", "/docs", (404, "NoSuchRoute")),
        ("GET", "/redoc", (404, "NoSuchRoute")),
        ("GET", PATH, (405, "MethodNotAllowed")),
        ("DELETE", "/healthz", (405, "MethodNotAllowed")),
    ],
)
async def test_nothing_else_is_served(
    http: httpx.AsyncClient, method: str, path: str, expected: tuple[int, str]
) -> None:
    assert reason(await http.request(method, path)) == expected


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
    assert reason(response) == (503, "NotReady")
    assert "may not create tokenreviews" in response.json()["message"]

    api.fault = lambda _: "drop-before"
    clock.seconds += 5
    response = await http.get("/readyz")
    assert reason(response) == (503, "NotReady")
    assert "did not answer" in response.json()["message"]


async def test_metrics_count_requests_by_route(recorder: Callback, metrics: ServerMetrics) -> None:
    await recorder.heartbeat()
    await recorder.http.get("/secret-path")
    await recorder.http.request("BREW", "/healthz")
    text = (await recorder.http.get("/metrics")).text

    route = "/v1/sessions/{namespace}/{name}/heartbeat"
    labels = {"method": "POST", "route": route, "code": "200"}
    assert metrics.registry.get_sample_value("bernstein_http_requests_total", labels) == 1
    assert 'method="other"' in text
    assert 'route="unmatched"' in text
    assert "secret-path" not in text
    assert "fix-s1" not in text
    assert "uid-1" not in text


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


async def test_a_mistake_of_ours_is_told_without_its_details(
    recorder: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr("bernstein.server.app.read_object", broken)
    response = await recorder.heartbeat()
    assert reason(response) == (500, "InternalError")
    assert "hunter2" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_the_openapi_document_describes_the_callbacks(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    assert set(document["paths"]) == {
        "/v1/sessions/{namespace}/{name}/heartbeat",
        "/v1/sessions/{namespace}/{name}/result",
        "/healthz",
        "/readyz",
        "/metrics",
    }
    heartbeat = document["paths"]["/v1/sessions/{namespace}/{name}/heartbeat"]["post"]
    schema = heartbeat["requestBody"]["content"]["application/json"]["schema"]
    assert {"seq", "usage", "lastActivity", "checkpoint"} <= set(schema["properties"])
    assert heartbeat["security"]
    assert {"401", "403", "404", "409", "413", "422", "503"} <= set(heartbeat["responses"])


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
    await recorder.post(f"{PATH}?key=hunter2", beat())
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
