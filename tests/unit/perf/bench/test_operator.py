"""When an operator counts as settled, and what counts as its work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.kube.config import ConnectionInfo
from bernstein.observe.metrics import Metrics
from tests.perf.bench import operator as operators
from tests.perf.bench.operator import METRICS, Operator, requests, writes
from tests.perf.bench.prometheus import Samples, parse

REQUESTS = """\
rest_client_requests_total{method="GET",resource="pods",code="200"} 5
rest_client_requests_total{method="PATCH",resource="tasks",code="200"} 8
rest_client_requests_total{method="PATCH",resource="tasks",code="409"} 1
rest_client_requests_total{method="POST",resource="jobs",code="201"} 4
rest_client_requests_total{method="POST",resource="events",code="201"} 6
rest_client_requests_total{method="PATCH",resource="leases",code="200"} 30
rest_client_requests_total{method="WATCH",resource="tasks",code="200"} 2
"""


def state(*, leads: int = 1, depth: int = 0, reconciles: int = 10) -> Samples:
    text = (
        f'leader_election_master_status{{name="x"}} {leads}\n'
        f'workqueue_depth{{name="task"}} {depth}\n'
        f'controller_runtime_reconcile_total{{controller="task",result="success"}} {reconciles}\n'
    )
    return parse(text + REQUESTS, METRICS)


def test_its_lease_and_its_events_are_no_work() -> None:
    samples = parse(REQUESTS, METRICS)

    assert writes(samples) == 13
    assert requests(samples, ("GET",)) == 5


def test_what_is_read_is_what_the_operator_shows() -> None:
    metrics = Metrics(process=False)
    metrics.request("PATCH", "tasks", 200, 0.1)
    metrics.reconciled("task", "success", 0.1)
    metrics.leading("x", True)
    metrics.queue_depth("task", 0)
    names = {sample.name for family in metrics.registry.collect() for sample in family.samples}

    assert names >= METRICS


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Nobody sleeps; the time passes all the same."""
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr("tests.perf.bench.operator.time.sleep", sleep)
    monkeypatch.setattr("tests.perf.bench.operator.time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    authority = tmp_path / "ca.crt"
    authority.write_text("a certificate")
    account = ConnectionInfo("https://127.0.0.1:1", ca_file=str(authority))
    return Operator(account, "token", tmp_path)


def says(monkeypatch: pytest.MonkeyPatch, told: Iterator[Samples | None]) -> None:
    monkeypatch.setattr(Operator, "metrics", lambda _: next(told))


def test_it_has_settled_at_its_last_work_and_not_before_it_leads(
    operator: Operator, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> Iterator[Samples | None]:
        yield None
        yield from [state(leads=0)] * 20
        yield from [state(depth=3)] * 20
        yield state(reconciles=11)
        while True:
            yield state(reconciles=12)

    says(monkeypatch, told())

    took = operator.settle(60) - clock[0]

    assert took == pytest.approx(-operators.QUIET_SECONDS, abs=operators.LOOK_SECONDS)
    assert clock[0] - 100 == pytest.approx(42 * operators.LOOK_SECONDS + 2, abs=0.5)


@pytest.mark.parametrize("never", [state(leads=0), state(depth=1), state(reconciles=9), None])
def test_it_has_not_settled_while_there_is_work(
    operator: Operator,
    clock: list[float],
    monkeypatch: pytest.MonkeyPatch,
    never: Samples | None,
) -> None:
    def told() -> Iterator[Samples | None]:
        while True:
            yield never

    says(monkeypatch, told())

    with pytest.raises(TimeoutError, match="30 s"):
        operator.settle(30, reconciles=10)


def test_a_slow_answer_is_work(
    operator: Operator, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = iter([True, True, True])

    def answer(_: Operator) -> Samples:
        if next(slow, False):
            clock[0] += 5
        return state()

    monkeypatch.setattr(Operator, "metrics", answer)

    operator.settle(60)

    assert clock[0] >= 100 + 3 * 5 + operators.QUIET_SECONDS


def test_its_token_is_nobody_elses(operator: Operator, tmp_path: Path) -> None:
    file = tmp_path / "operator.kubeconfig"

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_uid == os.getuid()
