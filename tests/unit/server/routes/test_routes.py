"""What holds for every route that is declared."""

import importlib
import json
import pkgutil
import re
from typing import Any

import httpx
import pytest
from fastapi import Request
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from bernstein.observe.metrics import ServerMetrics
from bernstein.server import routes
from bernstein.server.app import ERRORS, create_app
from bernstein.server.routes import ROUTES
from bernstein.server.routes.route import Route
from bernstein.server.service import Service
from tests.unit.server.conftest import problem
from tests.unit.server.session_api import SessionApi

EVERY = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")


class _Json(SingleFileSnapshotExtension):
    file_extension = "json"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        return json.dumps(data, indent=1) + "\n"


async def call(http: httpx.AsyncClient, route: Route, **headers: str) -> httpx.Response:
    path = re.sub(r"\{\w+\}", "x", route.path)
    return await http.request(route.method, path, headers=headers)


def test_every_route_that_a_module_declares_is_in_the_list() -> None:
    names = (found.name for found in pkgutil.iter_modules(routes.__path__, f"{routes.__name__}."))
    modules = [importlib.import_module(name) for name in names]
    declared = [one for module in modules for one in vars(module).values() if type(one) is Route]

    assert {(one.method, one.path) for one in declared} == {(r.method, r.path) for r in ROUTES}
    assert len(declared) == len(ROUTES)


@EVERY
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer x"}])
async def test_a_caller_who_is_nobody_is_refused_unless_the_route_is_public(
    http: httpx.AsyncClient, route: Route, headers: dict[str, str]
) -> None:
    response = await call(http, route, **headers)
    if route.public:
        assert response.status_code == 200
    else:
        assert problem(response) == (401, "Unauthenticated")
        assert response.headers["www-authenticate"] == "Bearer"


@EVERY
async def test_the_openapi_document_says_of_a_route_how_it_is_called_and_what_it_answers(
    http: httpx.AsyncClient, route: Route
) -> None:
    document = (await http.get("/openapi.json")).json()
    described = document["paths"][route.path][route.method.lower()]
    assert described["description"]
    assert ("security" in described) != route.public
    assert ("requestBody" in described) == (route.body is not None)
    assert {"200", *map(str, ERRORS)} <= set(described["responses"])


async def test_the_document_lists_what_is_declared_in_its_order(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    listed = [(m.upper(), path) for path, methods in document["paths"].items() for m in methods]
    assert listed == [(route.method, route.path) for route in ROUTES]


async def test_the_openapi_document_is_exactly_this(
    http: httpx.AsyncClient, snapshot: SnapshotAssertion
) -> None:
    document = (await http.get("/openapi.json")).json()
    assert document == snapshot(extension_class=_Json)


async def test_a_route_needs_nothing_but_its_declaration(
    metrics: ServerMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def colour(request: Request) -> dict[str, str]:
        """What we paint it."""
        return {"colour": request.path_params["which"]}

    one = Route("GET", "/v1/colours/{which}", colour, public=True)
    monkeypatch.setattr("bernstein.server.app.ROUTES", (*ROUTES, one))
    async with SessionApi.running() as api, api.client() as client:
        transport = httpx.ASGITransport(create_app(Service(client, metrics)))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as http:
            assert (await http.get("/v1/colours/red")).json() == {"colour": "red"}
            document = (await http.get("/openapi.json")).json()
    assert document["paths"]["/v1/colours/{which}"]["get"]["description"] == "What we paint it."


async def test_the_openapi_document_describes_the_callbacks(http: httpx.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()
    assert {
        "/v1/sessions/{namespace}/{name}/heartbeat",
        "/v1/sessions/{namespace}/{name}/result",
    } <= set(document["paths"])
    heartbeat = document["paths"]["/v1/sessions/{namespace}/{name}/heartbeat"]["post"]
    schema = heartbeat["requestBody"]["content"]["application/json"]["schema"]
    assert {"seq", "usage", "lastActivity", "checkpoint"} <= set(schema["properties"])
    assert heartbeat["security"]
    assert {"401", "403", "404", "409", "413", "422", "503"} <= set(heartbeat["responses"])
