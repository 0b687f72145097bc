"""What all processes of a cluster have used up to a moment, and between two moments."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.request import Request, urlopen

from bernstein.kube.config import ConnectionInfo
from tests.cluster import Cluster
from tests.perf.bench import operator as operators
from tests.perf.bench.operator import Operator
from tests.perf.bench.processes import busy_seconds, cpu_seconds
from tests.perf.bench.prometheus import parse

API_REQUESTS = "apiserver_request_total"
OPERATOR = "operator"
ANSWERS = 10
"""By which it is found out what one costs; /proc counts hundredths of a second."""
WRITES = ("POST", "PUT", "PATCH", "DELETE", "APPLY")
Asked = Counter[tuple[str, str]]
"""Requests by verb and resource, its subresource included: `(PATCH, tasks/status)`."""


@dataclass(frozen=True)
class Span:
    """What was used in between."""

    seconds: float
    cpu: Mapping[str, float]
    """CPU seconds by process, `operator` among them without what it tells the bench."""
    others: float
    """Part of the machine's CPU that was used by whatever has nothing to do with the cluster."""
    api: Asked
    """What the API server was asked by everybody, watches aside."""
    operator: Asked
    """What the operator has asked; its subresources are not told apart."""
    reconciles: float
    lost: int
    """How often the operator lost its Lease; then its requests and reconciles begin anew."""


@dataclass(frozen=True)
class Moment:
    """Counters as they stand."""

    at: float
    busy: float
    cpu: Mapping[str, float]
    api: Asked
    operator: Asked
    reconciles: float
    lost: int

    def until(self, later: Moment) -> Span:
        seconds = later.at - self.at
        cpu = {name: later.cpu[name] - self.cpu[name] for name in self.cpu}
        others = later.busy - self.busy - sum(cpu.values())
        return Span(
            seconds=seconds,
            cpu=cpu,
            others=max(others, 0.0) / (seconds * (os.cpu_count() or 1)),
            api=later.api - self.api,
            operator=later.operator - self.operator,
            reconciles=later.reconciles - self.reconciles,
            lost=later.lost - self.lost,
        )


class Watch:
    """Looks at a cluster, its operator, and this process, which makes the load."""

    def __init__(self, cluster: Cluster, admin: ConnectionInfo, operator: Operator) -> None:
        self._admin = admin
        self._operator = operator
        self._pids = {part.name: part.pid for part in cluster.status().components}
        self._tls = admin.ssl_context()
        self._answer = self._cost_of_an_answer()
        self._asked = operator.asked

    def _cost_of_an_answer(self) -> float:
        """CPU seconds for which the operator tells its metrics, while it has nothing to do."""
        before = self._operator.cpu
        for _ in range(ANSWERS):
            self._operator.metrics()
        return (self._operator.cpu - before) / ANSWERS

    def now(self) -> Moment:
        samples = self._operator.metrics() or parse("", set())
        pids = {**self._pids, "bench": os.getpid()}
        cpu = {name: cpu_seconds(pid) for name, pid in pids.items()}
        told = self._answer * (self._operator.asked - self._asked)
        cpu[OPERATOR] = self._operator.cpu - told
        return Moment(
            at=time.monotonic(),
            busy=busy_seconds(),
            cpu=cpu,
            api=self._api_requests(),
            operator=_counted(samples.by(operators.REQUESTS, "method", "resource")),
            reconciles=samples.total(operators.RECONCILES),
            lost=self._operator.lost,
        )

    def _api_requests(self) -> Asked:
        request = Request(f"{self._admin.server}/metrics")  # noqa: S310 - our own API server
        with urlopen(request, context=self._tls, timeout=60) as answer:  # noqa: S310
            samples = parse(answer.read().decode(), {API_REQUESTS})
        found: Asked = Counter()
        for (verb, resource, sub), n in samples.by(
            API_REQUESTS, "verb", "resource", "subresource"
        ).items():
            if verb not in ("WATCH", "CONNECT") and resource:
                found[verb, f"{resource}/{sub}" if sub else resource] += int(n)
        return found


def _counted(sums: Mapping[tuple[str, ...], float]) -> Asked:
    return Counter({(key[0], key[1]): int(n) for key, n in sums.items() if key[0] != "WATCH"})
