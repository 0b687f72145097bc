"""What a freed place costs: as many writes with ten or ten thousand Tasks that wait, and little CPU
for each of them. And what the largest Plan costs of which each step is split.

The comparison holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan
from bernstein.api.plans.rows import MAX_ROWS
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.scheduling import landing_turns
from bernstein.core.scheduling.schedule import WAITS_AT_ONCE
from tests.perf.test_calls import counted
from tests.unit.core import objects
from tests.unit.core.objects import NOW, project, status
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot, new_board
from tests.unit.core.scheduling.schedules import schedule

FEW, MANY = 10, 10_000
AGENTS = 6
PLAN = objects.plan(budget="100")
PROJECT = project(limits={"maxAgents": AGENTS})


def tasks(number: int, **spec: Any) -> dict[str, Task]:
    """So many that wait, behind those at work."""
    at_work = [objects.task(f"a{n}", status=status(TaskState.IN_PROGRESS)) for n in range(AGENTS)]
    waiting = [
        objects.task(f"t{n:05}", status=status(), **({"files": [f"src/{n}.py"]} | spec))
        for n in range(number)
    ]
    return {task.metadata.name: task for task in (*at_work, *waiting)}


def snapshot(found: dict[str, Task], plan: Plan = PLAN) -> ProjectSnapshot:
    return ProjectSnapshot(
        project=PROJECT,
        members=list(found.values()),
        plan_of=dict.fromkeys(found, plan),
        tasks=found,
    )


def settled(number: int, **spec: Any) -> dict[str, Task]:
    """All of them say why they wait."""
    found = tasks(number, **spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("bernstein.core.scheduling.schedule.WAITS_AT_ONCE", number)
        told = schedule(snapshot(found), NOW).waits
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
        decided = schedule(snapshot(freed(settled(number, **spec))), NOW)

        assert len(decided.moves) == 1
        assert len(decided.waits) <= 1


def test_a_freed_place_costs_a_kept_schedule_as_much_however_many_wait() -> None:
    """Of a Plan without a budget: what one has spent is reckoned anew when one of its Tasks has
    moved. A first look costs little for each that waits."""
    kept, anew, plan = {}, {}, objects.plan()
    for number in (FEW, MANY):
        found = settled(number)
        board, began = new_board(snapshot(found, plan)), time.process_time()
        assert not board.look(PROJECT, (), NOW).moves
        anew[number] = time.process_time() - began
        seconds = []
        for n in range(AGENTS):
            began = time.process_time()
            ended = found[f"a{n}"].model_copy(update={"status": status(TaskState.CLOSED)})
            board.put_task(f"a{n}", ended, plan, member=True)
            decided = board.look(PROJECT, (), NOW)
            seconds.append(time.process_time() - began)
            (claim,) = decided.moves
            claimed = claim[0].model_copy(update={"status": claim[1]})
            board.put_task(claimed.metadata.name, claimed, plan, member=True)
        kept[number] = min(seconds)
    for_each = (anew[MANY] - anew[FEW]) / (MANY - FEW)
    print(
        f"\na freed place: {kept[FEW] * 1000:.2f} ms of CPU with {FEW} that wait, "
        f"{kept[MANY] * 1000:.2f} ms with {MANY:,}; a first look: {for_each * 1e6:.0f} µs for each"
    )
    assert kept[MANY] < 5 * kept[FEW]
    assert kept[MANY] < anew[MANY] / 20


def test_a_look_at_those_that_land_decides_nothing_anew_about_who_says_so_already() -> None:
    delivery = Delivery(state="Pending", onto="refs/heads/main")
    asks = objects.done(delivery=delivery, waiting=objects.waits("MergeQueue"))
    line = {
        task.metadata.name: task.model_copy(update={"status": told})
        for task, told in landing_turns.turns(
            [objects.task(f"t{number:03}", status=asks) for number in range(100)],
            NOW,
            lambda _: "app",
        )
    }
    board = new_board(snapshot(line))
    board.look(PROJECT, (), NOW)
    again, calls = counted(lambda: board.look(PROJECT, (), NOW))
    print(f"statuses worked out for {len(line)} Tasks that land one after another: ", end="")
    print(calls["of_task"])
    assert not again.moves
    assert not again.waits
    assert calls["of_task"] == 0


def test_a_look_writes_a_piece_of_the_largest_plan_of_which_each_step_is_split() -> None:
    steps = range(MAX_ROWS // 2)
    spec: dict[str, Any] = {"title": "Do work", "subtasks": [{"title": "all of it"}]}
    rows = [{"name": f"t{n:05}", "stage": "build", "step": n} for n in steps]
    own = PLAN.status.model_validate({**PLAN.status.model_dump(), "tasks": rows, "expanded": True})
    plan = objects.plan(status=own)
    found = {f"t{n:05}": objects.task(f"t{n:05}", status=status(), **spec) for n in steps}

    looks, seconds = 0, []
    board = new_board(snapshot(found, plan))
    more = True
    while more:
        began = time.process_time()
        decided = board.look(PROJECT, (), NOW)
        seconds.append(time.process_time() - began)
        looks, more = looks + 1, decided.more
        assert 0 < len(decided.moves) <= WAITS_AT_ONCE
        for task, told in decided.moves:
            assert told.state is TaskState.WAITING_FOR_SUBTASKS
            moved = task.model_copy(update={"status": told})
            board.put_task(task.metadata.name, moved, plan, member=True)
    print(
        f"\n{len(steps):,} steps that are split: {looks} looks, the first {seconds[0] * 1000:.0f} "
        f"ms of CPU, the others up to {max(seconds[1:]) * 1000:.0f} ms"
    )
    assert looks == len(steps) / WAITS_AT_ONCE
    assert max(seconds[1:]) < seconds[0]
