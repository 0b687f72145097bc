"""What is counted of waiting, and that each counts once, when it is over."""

from __future__ import annotations

from bernstein.api.task import TaskStatus
from bernstein.controllers.metrics import waits
from bernstein.core.waiting import wait
from bernstein.observe.metrics import Metrics
from tests.unit.core.objects import at


def status(reason: str | None, since: float = 0) -> TaskStatus:
    return TaskStatus(waiting=wait(reason, "it waits", at(since)) if reason else None)


def waited(old: TaskStatus, new: TaskStatus, seconds: float) -> dict[str, float]:
    """Seconds by reason."""
    metrics = Metrics(process=False)
    waits.count(metrics, "team", "Task", old, new, at(seconds))
    return {
        sample.labels["reason"]: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "bernstein_waited_seconds_sum"
    }


def test_a_waiting_is_counted_when_it_is_over() -> None:
    assert waited(status("MaxAgents"), status(None), 90) == {"MaxAgents": 90}


def test_a_waiting_is_counted_when_another_follows() -> None:
    assert waited(status("MaxAgents"), status("FileOverlap", 30), 30) == {"MaxAgents": 30}


def test_what_still_waits_for_the_same_is_not_counted_yet() -> None:
    assert waited(status("MaxAgents"), status("MaxAgents"), 90) == {}
    assert waited(status(None), status("MaxAgents", 90), 90) == {}
