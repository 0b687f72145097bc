"""The map from a Plan's steps to their Tasks, and what keeps a Plan from succeeding by it."""

from __future__ import annotations

from typing import Any

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.task import Task
from bernstein.core.actions import CreateTasks
from bernstein.core.plans.rows import names_of_steps
from tests.unit.core import objects
from tests.unit.core.delivery import plans as delivered
from tests.unit.core.objects import closed, sha, stalled_for
from tests.unit.core.plans.decisions import look

TWO = [
    {"name": "one", "steps": [{"title": "Do a"}, {"title": "Do b"}]},
    {"name": "two", "steps": [{"title": "Do c"}]},
]
PLACES = [("one", 0), ("one", 1), ("two", 0)]


def rows_of(status: PlanStatus) -> list[tuple[str, str, int | None]]:
    return [(row.name, row.stage, row.step) for row in status.tasks]


def of_step(name: str, title: str, stage: str) -> Task:
    return objects.task(name, title=title, stage=stage)


def test_there_is_a_row_for_each_step_from_the_start_and_in_its_order() -> None:
    decision = look(objects.plan(begun=False, stages=TWO))

    (made,) = [a for a in decision.actions if isinstance(a, CreateTasks)]
    names = [obj["metadata"]["name"] for obj in made.objects]
    assert rows_of(decision.status) == [
        (name, *place) for name, place in zip(names, PLACES, strict=True)
    ]


def test_rows_of_an_older_release_are_put_in_order_once_and_lose_nothing() -> None:
    made: list[dict[str, Any]] = [
        {"name": "c", "stage": "two", "spendUsd": "1"},
        {"name": "b", "stage": "one", "spendUsd": "2"},
        {"name": "besides", "stage": "one", "spendUsd": "4"},
        {"name": "a", "stage": "one"},
    ]
    older = PlanStatus.model_validate({"tasks": made})
    tasks = [of_step(n, f"Do {n}", s) for n, s in (("a", "one"), ("b", "one"), ("c", "two"))]

    first = look(objects.plan(status=older, stages=TWO), *tasks[:2], of_step("c", "Do c", "two"))
    again = look(objects.plan(status=first.status, stages=TWO), *reversed(tasks))

    assert rows_of(first.status) == [
        *((name, *place) for name, place in zip("abc", PLACES, strict=True)),
        ("besides", "one", None),
    ]
    assert first.status.spend_usd == "4"
    assert again.status.tasks == first.status.tasks


def test_rows_of_no_step_are_settled_where_the_list_has_no_room_for_them() -> None:
    stages = [
        {"name": f"stage {s}", "steps": [{"title": f"Do {n}"} for n in range(50)]}
        for s in range(40)
    ]
    full = objects.plan(stages=stages)
    rows = [PlanTask(name=name, stage="-") for name in names_of_steps(full)]
    besides = PlanTask(name="besides", stage="-", spend_usd="4")
    older = PlanStatus(tasks=(*rows[:-1], besides), expanded=True)
    last = of_step(rows[-1].name, "Do 49", "stage 39")

    status = look(objects.plan(status=older, stages=stages), last).status

    assert len(rows) == len(status.tasks) == 2000
    assert status.tasks[-1].name == last.metadata.name
    assert status.settled is not None
    assert status.settled.spend_usd == status.spend_usd == "4"


def test_a_landing_is_written_down_once_and_outlives_its_task() -> None:
    known = delivered.look().status

    deleted = delivered.look(known, tasks=()).status

    landings = [row.landed for row in deleted.tasks if row.landed is not None]
    assert [(entry.number, entry.sha) for entry in landings] == [
        (1, sha(1)),
        (2, sha(2)),
    ]
    assert deleted.integration == known.integration


def test_a_plan_with_a_merged_task_outside_of_its_ledger_stalls_and_delivers_nothing() -> None:
    foreign = delivered.landed(3, sha(66))

    decision = delivered.look(tasks=(*delivered.TASKS, foreign))

    assert decision.actions == ()
    assert decision.status.phase == "Stalled"
    assert stalled_for(decision.status.conditions) == "UnknownLanding"
    assert decision.status.delivery is None, "what landed outside is no change of nothing, either"


def test_a_task_of_no_step_that_is_merged_stalls_its_plan() -> None:
    stranger = objects.task("stranger", status=closed(3))

    mapped = PlanStatus.model_validate({"tasks": [{"name": "a", "stage": "build", "step": 0}]})

    decision = look(objects.plan(status=mapped), strangers={"stranger": stranger})

    assert stalled_for(decision.status.conditions) == "UnknownLanding"
