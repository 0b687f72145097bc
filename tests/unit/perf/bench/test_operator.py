"""When an operator counts as settled, and what counts as its work."""

from __future__ import annotations

import os
import subprocess
import sys
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


class Acted:
    """An operator whose answers and CPU are a script's, and a time in which nobody sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.now = 100.0
        self.cpu = 0.0
        self.busy_until = 0.0
        self.answers: list[Samples | None] = []
        self.operator = _never_started(folder)
        monkeypatch.setattr("tests.perf.bench.operator.time.sleep", self.sleep)
        monkeypatch.setattr("tests.perf.bench.operator.time.monotonic", lambda: self.now)
        monkeypatch.setattr("tests.perf.bench.operator.cpu_seconds", lambda _: self.cpu)
        monkeypatch.setattr(Operator, "pid", 1)
        monkeypatch.setattr(Operator, "metrics", lambda _: self.answer())

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.cpu += seconds / 2 if self.now < self.busy_until else 0.001

    def answer(self) -> Samples | None:
        self.cpu += 1  # what the bench asks for is no work
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def acted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Acted:
    return Acted(monkeypatch, tmp_path)


def test_it_has_settled_at_its_last_work(acted: Acted) -> None:
    acted.busy_until, acted.answers = 110, [state()]

    took = acted.operator.settle(60)

    assert took == pytest.approx(110, abs=2 * operators.LOOK_SECONDS)
    assert acted.now == pytest.approx(113, abs=1)


def test_it_is_asked_again_after_it_has_told_of_work(acted: Acted) -> None:
    acted.answers = [None, state(leads=0), state(depth=3), state(), state(reconciles=12)]

    acted.operator.settle(60)

    assert len(acted.answers) == 1
    assert acted.now - 100 > 5 * operators.QUIET_SECONDS


@pytest.mark.parametrize("never", [state(leads=0), state(depth=1), state(reconciles=9), None])
def test_it_has_not_settled_while_there_is_work(acted: Acted, never: Samples | None) -> None:
    acted.answers = [never]

    with pytest.raises(TimeoutError, match="30 s"):
        acted.operator.settle(30, reconciles=10)


def test_its_token_is_nobody_elses(acted: Acted, tmp_path: Path) -> None:
    file = tmp_path / "operator.kubeconfig"

    assert file.stat().st_mode & 0o777 == 0o600
    assert file.stat().st_uid == os.getuid()


def test_one_that_ends_by_itself_is_started_again_and_its_cpu_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = "import time\nwhile time.process_time() < 0.2: pass"
    operator = _never_started(tmp_path)
    operator._process = subprocess.Popen([sys.executable, "-c", work])
    os.waitid(os.P_PID, operator.pid, os.WEXITED | os.WNOWAIT)
    used = operator.cpu
    started: list[tuple[str, ...]] = []

    def start(self: Operator, *arguments: str) -> None:
        started.append(arguments)
        self._process = subprocess.Popen(["sleep", "60"])

    monkeypatch.setattr(Operator, "start", start)

    operator.keep()
    operator.keep()

    assert (operator.lost, len(started)) == (1, 1)
    assert used >= 0.15
    assert operator.cpu >= used
    operator.stop()


def _never_started(folder: Path) -> Operator:
    authority = folder / "ca.crt"
    authority.write_text("a certificate")
    return Operator(ConnectionInfo("https://127.0.0.1:1", ca_file=str(authority)), "token", folder)
