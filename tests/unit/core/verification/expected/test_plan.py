"""What the numbers in names of a Plan's checks stand for."""

from __future__ import annotations

from bernstein.api.states import TaskState
from bernstein.checks.spec import SIGNAL
from bernstein.core.verification.expected.plan import signals_of, specs_of
from tests.unit.core import objects
from tests.unit.core.objects import plan_snapshot

HAS_A = {"type": "path_exists", "path": "a"}
HAS_B = {"type": "path_exists", "path": "b"}
HAS_C = {"type": "path_exists", "path": "c"}


def test_checks_number_the_signals_of_all_closed_tasks_each_once() -> None:
    closed = objects.status(TaskState.CLOSED)
    failed = objects.status(TaskState.FAILED, attempt=4)
    tasks = (
        objects.task("two", status=closed, completionSignals=[HAS_B, HAS_A]),
        objects.task("one", status=closed, completionSignals=[HAS_A]),
        objects.task("not-done", status=failed, completionSignals=[HAS_C]),
    )
    snapshot = plan_snapshot(objects.plan(), *tasks)

    paths = {f"{SIGNAL}{n}": signal.path for n, signal in enumerate(signals_of(snapshot))}

    assert paths == {f"{SIGNAL}0": "a", f"{SIGNAL}1": "b"}
    reads = {c.name: c.reads.path for c in specs_of(snapshot) if c.kind == "signal" and c.reads}
    assert reads == paths


def test_models_are_not_asked_about_the_work_of_all_steps() -> None:
    closed = objects.status(TaskState.CLOSED)
    asks = {"type": "llm_review", "criteria": "It is tested."}
    task = objects.task("one", status=closed, completionSignals=[asks, HAS_A])
    snapshot = plan_snapshot(objects.plan(), task)

    assert [signal.type for signal in signals_of(snapshot)] == ["path_exists"]
    assert all(check.asks is None for check in specs_of(snapshot))
