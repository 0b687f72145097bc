"""What Prometheus reads."""

from __future__ import annotations

from fastapi import Request, Response

from bernstein.server.routes.route import Route
from bernstein.server.service import service_of


async def metrics(request: Request) -> Response:
    """Prometheus metrics."""
    registry = service_of(request).metrics.registry
    body, content_type = await registry.scraped(request.headers.get("accept", ""))
    return Response(body, headers={"Content-Type": content_type})


METRICS = Route("GET", "/metrics", metrics, answers=Response, public=True, frequent=True)
