"""The HTTP application: routes, and one shape for every error."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from bernstein.kube.client import Client
from bernstein.observe.logging import bound, logger
from bernstein.observe.metrics import ServerMetrics
from bernstein.observe.registry import render
from bernstein.server.body import read_object
from bernstein.server.callbacks import Sessions
from bernstein.server.identity import Caller, Identities
from bernstein.server.readiness import Readiness
from bernstein.server.refusal import Problem, Refusal
from bernstein.server.report import Heartbeat, Result, after_heartbeat, after_result, parse
from bernstein.server.wire import REASON, Wire, peer

log = logger("bernstein.server")

REQUEST_SECONDS = 5.0
"""Limit of one request to the Kubernetes API."""

_NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
Namespace = Annotated[str, Path(pattern=_NAME, max_length=63)]
SessionName = Annotated[str, Path(pattern=_NAME, max_length=253)]
Bearer = Annotated[
    HTTPAuthorizationCredentials | None,
    Depends(HTTPBearer(auto_error=False, description="The pod's token for bernstein.dev/callback")),
]


class StopRequest(BaseModel):
    """The agent is to be ended softly."""

    reason: str


class HeartbeatAnswer(BaseModel):
    stop: StopRequest | None


class ResultAnswer(BaseModel):
    """Empty: there is nothing left to say."""


class Health(BaseModel):
    status: str = "ok"


class Service:
    """What the routes need; one per application.

    `now` is the wall clock (Unix seconds), `clock` the monotonic one.
    """

    def __init__(
        self,
        client: Client,
        metrics: ServerMetrics,
        *,
        namespaces: Sequence[str] = (),
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        limited = client.with_timeout(REQUEST_SECONDS)
        self.metrics = metrics
        self.identities = Identities(limited, metrics, now=now, clock=clock)
        self.sessions = Sessions(limited, metrics, clock=clock)
        self.readiness = Readiness(limited, namespaces=namespaces, clock=clock)
        self._now = now

    def now(self) -> datetime:
        return datetime.fromtimestamp(self._now(), UTC)


def create_app(service: Service) -> Wire:
    """What uvicorn serves; the service's client must be open while it does."""
    # Outermost, so that answers to our own failures are counted and carry the headers too.
    return Wire(routes(service), count=service.metrics)


def routes(service: Service) -> FastAPI:
    app = FastAPI(
        title="Bernstein",
        version="v1",
        description="Callbacks of the recorders in agents' pods.",
        docs_url=None,
        redoc_url=None,
        responses={
            code: {"model": Problem} for code in (401, 403, 404, 408, 409, 413, 422, 429, 500, 503)
        },
        exception_handlers={
            Refusal: _refused,
            HTTPException: _no_route,
            RequestValidationError: _bad_path,
            Exception: _failed,
        },
    )
    app.state.service = service
    app.add_api_route(
        "/v1/sessions/{namespace}/{name}/heartbeat",
        heartbeat,
        methods=["POST"],
        response_model=HeartbeatAnswer,
        openapi_extra=_body(Heartbeat),
    )
    app.add_api_route(
        "/v1/sessions/{namespace}/{name}/result",
        result,
        methods=["POST"],
        response_model=ResultAnswer,
        openapi_extra=_body(Result),
    )
    app.add_api_route("/healthz", healthz, methods=["GET"], response_model=Health)
    app.add_api_route("/readyz", readyz, methods=["GET"], response_model=Health)
    app.add_api_route("/metrics", metrics, methods=["GET"], response_class=Response)
    return app


def _body(model: type[BaseModel]) -> dict[str, Any]:
    """The body is read by us, within limits; this only documents it."""
    content = {"application/json": {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


async def authenticated(request: Request, bearer: Bearer) -> Caller:
    token = bearer.credentials if bearer is not None else ""
    return await _service(request).identities.caller(token, peer(request.scope))


FromPod = Annotated[Caller, Depends(authenticated)]


async def heartbeat(
    request: Request, namespace: Namespace, name: SessionName, caller: FromPod
) -> HeartbeatAnswer:
    """The recorder lives; the answer says whether the agent is to stop."""
    service = _service(request)
    beat: Heartbeat = parse(Heartbeat, await read_object(request))
    session = await service.sessions.report(
        "heartbeat",
        namespace,
        name,
        caller,
        lambda old: after_heartbeat(old, beat, service.now()),
    )
    stop = session.spec.stop
    return HeartbeatAnswer(stop=StopRequest(reason=stop.reason) if stop else None)


async def result(
    request: Request, namespace: Namespace, name: SessionName, caller: FromPod
) -> ResultAnswer:
    """The recorder is done; may be repeated."""
    service = _service(request)
    final: Result = parse(Result, await read_object(request))
    await service.sessions.report(
        "result", namespace, name, caller, lambda old: after_result(old, final, service.now())
    )
    with bound(namespace=namespace, name=name):
        log.info("result received", sha=final.sha)
    return ResultAnswer()


async def healthz() -> Health:
    """The process answers."""
    return Health()


async def readyz(request: Request) -> Health:
    """The Kubernetes API answers and lets this server do its work."""
    problem = await _service(request).readiness.problem()
    if problem is not None:
        raise Refusal(503, "NotReady", problem, "Look at the server's log and at its RBAC.")
    return Health()


async def metrics(request: Request) -> Response:
    """Prometheus metrics."""
    registry = _service(request).metrics.registry
    body, content_type = render(registry, request.headers.get("accept", ""))
    return Response(body, headers={"Content-Type": content_type})


async def _refused(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, Refusal):
        raise error
    request.scope[REASON] = error.reason
    return JSONResponse(
        error.problem.model_dump(), status_code=error.status, headers=error.headers()
    )


async def _no_route(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = {404: "NoSuchRoute", 405: "MethodNotAllowed"}.get(status, "BadRequest")
    headers = getattr(error, "headers", None)
    problem = Problem(
        reason=reason,
        message=f"This server does not answer this {request.method} request.",
        remedy="See /openapi.json for what it answers.",
    )
    return JSONResponse(problem.model_dump(), status_code=status, headers=headers)


async def _bad_path(_: Request, __: Exception) -> JSONResponse:
    problem = Problem(
        reason="InvalidPath",
        message="The path does not name a namespace and an AgentSession.",
        remedy="Use the address that the session's pod was given.",
    )
    return JSONResponse(problem.model_dump(), status_code=422)


async def _failed(_: Request, __: Exception) -> JSONResponse:
    problem = Problem(
        reason="InternalError",
        message="The server failed; its log says how.",
        remedy="Send it again; report it if it stays.",
    )
    return JSONResponse(problem.model_dump(), status_code=500)
