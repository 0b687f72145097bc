"""Probes: whether the process answers, and whether it can do its work."""

from __future__ import annotations

from fastapi import Request
from pydantic import BaseModel

from bernstein.server.http.refusal import Refusal
from bernstein.server.routes.route import Route
from bernstein.server.service import service_of


class Health(BaseModel):
    status: str = "ok"


async def healthz() -> Health:
    """The process answers."""
    return Health()


async def readyz(request: Request) -> Health:
    """The Kubernetes API answers and lets this server do its work."""
    problem = await service_of(request).readiness.problem()
    if problem is not None:
        raise Refusal(503, "NotReady", problem, "Look at the server's log and at its RBAC.")
    return Health()


ALIVE = Route("GET", "/healthz", healthz, public=True, frequent=True)
READY = Route("GET", "/readyz", readyz, public=True, frequent=True)
