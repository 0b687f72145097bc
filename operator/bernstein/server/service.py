"""The objects that the routes work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from fastapi import Request

from bernstein.kube.client import Client
from bernstein.observe.metrics import ServerMetrics
from bernstein.server.identity import Identities
from bernstein.server.readiness import Readiness
from bernstein.server.sessions import Sessions

REQUEST_SECONDS = 5.0
"""Limit of one request to the Kubernetes API."""


class Service:
    """One per application.

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


def service_of(request: Request) -> Service:
    """The service of the application that got this request."""
    service: Service = request.app.state.service
    return service
