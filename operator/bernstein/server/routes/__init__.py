"""The routes of the server, in the order of its OpenAPI document.

A new one is a file here, a line below, a test module, and a row in `docs/reference/server.md`.
"""

from __future__ import annotations

from bernstein.server.routes import callbacks, health, metrics
from bernstein.server.routes.route import Route

ROUTES: tuple[Route, ...] = (
    callbacks.HEARTBEAT,
    callbacks.RESULT,
    health.ALIVE,
    health.READY,
    metrics.METRICS,
)
