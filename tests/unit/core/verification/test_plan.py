"""What the numbers in names of a Plan's checks stand for."""

from __future__ import annotations

from bernstein.checks.spec import SIGNAL
from bernstein.core.verification.plan import signals_of, specs_of
from tests.unit.core import objects
from tests.unit.core.objects import plan_snapshot

HAS_A = {"type": "path_exists", "path": "a"}
HAS_B = {"type": "path_exists", "path": "b"}


def test_checks_number_the_signals_of_all_tasks_each_once() -> None:
    tasks = (
        objects.task("two", completionSignals=[HAS_B, HAS_A]),
        objects.task("one", completionSignals=[HAS_A]),
    )
    snapshot = plan_snapshot(objects.plan(), *tasks)

    paths = {f"{SIGNAL}{n}": signal.path for n, signal in enumerate(signals_of(snapshot))}

    assert paths == {f"{SIGNAL}0": "a", f"{SIGNAL}1": "b"}
    reads = {c.name: c.reads.path for c in specs_of(snapshot) if c.kind == "signal" and c.reads}
    assert reads == paths
