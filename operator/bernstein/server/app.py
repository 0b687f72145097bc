"""The HTTP application: its routes, and one shape for every error."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bernstein.server.http.refusal import Problem, Refusal
from bernstein.server.http.wire import REASON, Wire
from bernstein.server.routes import ROUTES
from bernstein.server.service import Service

ERRORS = (401, 403, 404, 408, 409, 413, 422, 429, 500, 503)
"""Statuses of answers that are Problems."""


def create_app(service: Service) -> Wire:
    """What uvicorn serves; the service's client must be open while it does."""
    # Outermost, so that answers to our own failures are counted and carry the headers too.
    return Wire(
        application(service),
        count=service.metrics,
        frequent={route.path for route in ROUTES if route.frequent},
    )


def application(service: Service) -> FastAPI:
    app = FastAPI(
        title="Bernstein",
        version="v1",
        description="Callbacks of the recorders in agents' pods.",
        docs_url=None,
        redoc_url=None,
        responses={code: {"model": Problem} for code in ERRORS},
        exception_handlers={
            Refusal: _refused,
            HTTPException: _no_route,
            RequestValidationError: _bad_path,
            Exception: _failed,
        },
    )
    app.state.service = service
    for route in ROUTES:
        route.add_to(app)
    return app


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
