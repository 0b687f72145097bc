"""What is no route, and what goes wrong: the one shape of errors."""

import httpx
import pytest

from tests.unit.server.conftest import HEARTBEAT, Callback, beat, problem
from tests.unit.server.session_api import SessionApi


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
        ("GET", HEARTBEAT, (405, "MethodNotAllowed")),
        ("DELETE", "/healthz", (405, "MethodNotAllowed")),
    ],
)
async def test_nothing_else_is_served(
    http: httpx.AsyncClient, method: str, path: str, expected: tuple[int, str]
) -> None:
    assert problem(await http.request(method, path)) == expected


async def test_a_mistake_of_ours_is_told_without_its_details(
    recorder: Callback, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr("bernstein.server.routes.callbacks.read_object", broken)
    response = await recorder.heartbeat()
    assert problem(response) == (500, "InternalError")
    assert "hunter2" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"
