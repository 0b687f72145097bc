"""Whatever people write, why a Task waits fits into its status, with what helps."""

from __future__ import annotations

import pytest

from bernstein.api.task import Task
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, snapshot, status

LONGEST_NAME = 40
EMOJI = "\U0001f525"


def ring(number: int) -> list[Task]:
    """Tasks of which each depends on the next one, and the last one on the first."""
    names = [f"n{i}".ljust(LONGEST_NAME, "x") for i in range(number)]
    after = [*names[1:], names[0]]
    return [
        objects.task(name, plan=None, dependsOn=[other], status=status())
        for name, other in zip(names, after, strict=True)
    ]


@pytest.mark.parametrize("number", [30, 400])
def test_a_circle_of_many_tasks_is_told(number: int) -> None:
    first, *others = ring(number)

    found = scheduled.decide(snapshot(first, others=tuple(others)), NOW).status

    assert objects.stalled_for(found.conditions) == "DependencyFailed"
    (stalled,) = (c for c in found.conditions if c.type == "Stalled")
    assert "circle" in stalled.message
    assert stalled.message.endswith("it cannot be changed in this one.")


def test_a_pattern_of_emoji_is_told() -> None:
    signal = {"type": "file_contains", "path": "a", "contains": "(" + EMOJI * 1023, "regex": True}
    task = objects.task(completionSignals=[signal], status=status())

    found = scheduled.decide(snapshot(task), NOW).status

    assert objects.stalled_for(found.conditions) == "InvalidPattern"


def test_a_dependency_with_the_longest_name_is_told() -> None:
    task = objects.task(plan=None, dependsOn=["x" * 253], status=status())

    found = scheduled.decide(snapshot(task), NOW).status

    assert objects.stalled_for(found.conditions) == "DependencyFailed"
