"""What a freed place costs: as many writes with ten or ten thousand Tasks that wait, and little CPU
for each of them.

The comparison holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.scheduling.schedule import Schedule
from bernstein.core.snapshot import ProjectSnapshot
from tests.unit.core import objects
from tests.unit.core.objects import NOW, project, status
from tests.unit.core.scheduling.schedules import schedule

FEW, MANY = 10, 10_000
AGENTS = 6


def tasks(number: int, **spec: Any) -> dict[str, Task]:
    """So many that wait, behind those at work."""
    at_work = [objects.task(f"a{n}", status=status(TaskState.IN_PROGRESS)) for n in range(AGENTS)]
    waiting = [
        objects.task(f"t{n:05}", status=status(), **({"files": [f"src/{n}.py"]} | spec))
        for n in range(number)
    ]
    return {task.metadata.name: task for task in (*at_work, *waiting)}


def look(found: dict[str, Task]) -> tuple[Schedule, float]:
    """The schedule and its CPU seconds."""
    plan = objects.plan(budget="100")
    snapshot = ProjectSnapshot(
        project=project(limits={"maxAgents": AGENTS}),
        members=list(found.values()),
        plan_of=dict.fromkeys(found, plan),
        tasks=found,
    )
    started = time.process_time()
    decided = schedule(snapshot, NOW)
    return decided, time.process_time() - started


def settled(number: int, **spec: Any) -> dict[str, Task]:
    """All of them say why they wait."""
    found = tasks(number, **spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bernstein.core.scheduling.schedule.WAITS_AT_ONCE", number)
        told = look(found)[0].waits
    for task, new in told:
        found[task.metadata.name] = task.model_copy(update={"status": new})
    return found


def freed(found: dict[str, Task]) -> dict[str, Task]:
    ended = found["a0"].model_copy(update={"status": status(TaskState.CLOSED)})
    return found | {"a0": ended}


@pytest.mark.parametrize(
    "spec", [{}, {"files": ["src/shared.py"]}, {"files": []}, {"files": ["**"]}]
)
def test_a_freed_place_costs_as_many_writes_however_many_wait(spec: dict[str, Any]) -> None:
    for number in (FEW, MANY):
        decided, _ = look(freed(settled(number, **spec)))

        assert len(decided.moves) == 1
        assert len(decided.waits) <= 1


def test_a_freed_place_costs_little_for_each_that_waits() -> None:
    seconds = {}
    for number in (FEW, MANY):
        found = freed(settled(number))
        look(found)
        seconds[number] = min(look(found)[1] for _ in range(3))
    for_each = (seconds[MANY] - seconds[FEW]) / (MANY - FEW)
    print(
        f"\na freed place: {seconds[FEW] * 1000:.2f} ms of CPU with {FEW} that wait, "
        f"{seconds[MANY] * 1000:.0f} ms with {MANY:,}: {for_each * 1e6:.0f} µs for each"
    )
    assert for_each < seconds[FEW]
