"""What a Task was split into is shown below it."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli.output import families, tables
from bernstein.core import labels
from bernstein.core.serializers import task_record
from tests.unit.core import objects
from tests.unit.core.plans.subtasks.test_rows import plan as plan_of

UID = "uid-{}"


def task(name: str, *subtasks: str, label: str | None = None, **spec: Any) -> Task:
    rows = [{"name": part, "uid": UID.format(part)} for part in subtasks]
    found = objects.task(name, status=objects.status(subtasks=rows or None), **spec)
    if label is None:
        return found
    meta = found.metadata.model_copy(update={"labels": {labels.SUBTASK_OF: label}})
    return found.model_copy(update={"metadata": meta})


def order(*tasks: Task) -> list[tuple[int, str]]:
    return [(depth, each.metadata.name) for depth, each in families.of_tasks(tasks)]


def shown(table: Table) -> list[str]:
    console = Console(width=100, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def test_each_stands_below_its_parent_wherever_it_was() -> None:
    found = order(task("a"), task("big", "x", "y"), task("b"), task("y", "z"), task("z"), task("x"))

    assert found == [(0, "a"), (0, "big"), (1, "x"), (1, "y"), (2, "z"), (0, "b")]


def test_what_only_has_the_name_of_one_or_whose_parent_is_elsewhere_stands_alone() -> None:
    stranger = objects.task("x").model_copy(
        update={"metadata": objects.task("x").metadata.model_copy(update={"uid": "other"})}
    )

    assert order(task("big", "x"), stranger) == [(0, "big"), (0, "x")]
    assert order(task("x")) == [(0, "x")]


def test_tasks_that_name_each_other_are_shown_all_the_same() -> None:
    assert order(task("a", "b"), task("b", "a"), task("c")) == [(0, "c"), (0, "a"), (1, "b")]


def test_lists_and_plans_show_it() -> None:
    tasks = [task("work", "one"), task("one")]

    assert [row.split()[:2] for row in shown(tables.task_table(tasks, Console(width=100)))[2:]] == [
        ["work", "open"],
        ["└", "one"],
    ]
    of: Plan = plan_of("one")
    lines = shown(tables.steps_table(of, tasks, {}))
    assert [line.split()[:3] for line in lines] == [
        ["build"],
        ["○", "Do", "work"],
        ["└", "○", "Do"],
    ]


def test_scripts_are_told_of_both() -> None:
    assert task_record(task("work", "one"))["subtasks"] == ["one"]
    assert task_record(task("one", label="work"))["parent"] == "work"
    assert task_record(task("one", label="work", plan=None))["parent"] is None
    assert task_record(task("one"))["parent"] is None
