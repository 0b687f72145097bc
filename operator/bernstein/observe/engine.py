"""Counts what the Kubernetes engine does, under the names that controller-runtime made common."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from bernstein.observe import series
from bernstein.observe.registry import counter, gauge, histogram, word

SETTLED = "settled"
"""The result of a reconcile that was seen to be needless."""


class EngineMetrics:
    """Implements the engine's Observer; durations are in seconds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = counter(series.REQUESTS, registry)
        self._request_seconds = histogram(series.REQUEST_SECONDS, registry)
        self._depth = gauge(series.QUEUE_DEPTH, registry)
        self._adds = counter(series.QUEUE_ADDS, registry)
        self._waited = histogram(series.QUEUE_WAIT, registry)
        self._worked = histogram(series.QUEUE_WORK, registry)
        self._retries = counter(series.QUEUE_RETRIES, registry)
        self._reconciles = counter(series.RECONCILES, registry)
        self._reconcile_seconds = histogram(series.RECONCILE_SECONDS, registry)
        self._leader = gauge(series.LEADER, registry)
        self._relists = counter(series.RELISTS, registry)

    def request(self, verb: str, resource: str, status: int, seconds: float) -> None:
        code = str(status) if status else "<error>"
        self._requests(verb, resource, code).inc()
        self._request_seconds(verb, resource).observe(seconds)

    def queue_added(self, queue: str) -> None:
        self._adds(queue).inc()

    def queue_depth(self, queue: str, depth: int) -> None:
        self._depth(queue).set(depth)

    def queue_started(self, queue: str, waited: float) -> None:
        self._waited(queue).observe(waited)

    def queue_finished(self, queue: str, worked: float) -> None:
        self._worked(queue).observe(worked)

    def queue_retried(self, queue: str) -> None:
        self._retries(queue).inc()

    def reconciled(self, controller: str, result: str, seconds: float) -> None:
        self._reconciles(controller, word(result)).inc()
        self._reconcile_seconds(controller).observe(seconds)

    def passed_over(self, controller: str) -> None:
        self._reconciles(controller, SETTLED).inc()

    def relisted(self, resource: str, reason: str) -> None:
        self._relists(resource, word(reason)).inc()

    def leading(self, lease: str, leading: bool) -> None:
        self._leader(lease).set(1 if leading else 0)
