"""A Task of a Plan depends on stages: what they hold stands in the Plan's rows."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.scheduling.dependencies import Unmet, unmet
from tests.unit.core import objects
from tests.unit.core.objects import closed, snapshot, status

SUBJECT = objects.task("last", status=status(), stage="c", dependsOnStages=["a", "b"])


def plan(**more: Any) -> Plan:
    made: Plan = objects.plan()
    rows = [
        {"name": name, "stage": stage, "step": step}
        for name, stage, step in (("x", "a", 0), ("y", "a", 1), ("z", "b", 0), ("last", "c", 0))
    ]
    fields = made.status.model_dump() | {"tasks": rows, "expanded": True} | more
    return made.model_copy(update={"status": type(made.status).model_validate(fields)})


def look(*others: Task, of: Plan | None = None) -> Unmet | None:
    return unmet(snapshot(SUBJECT, others=others, plan=of or plan()))


def pending(stage: str) -> Unmet:
    text = f"depends on 2 stages, of which '{stage}' is not done yet"
    return Unmet("DependencyPending", text, needs_person=False)


def task(name: str, its: TaskStatus, **more: Any) -> Task:
    return objects.task(name, status=its, **more)


X, Y, Z = (task(name, closed(number)) for number, name in enumerate("xyz", 1))


def test_it_starts_when_all_tasks_of_its_stages_are_closed() -> None:
    assert look(X, Y, Z) is None


@pytest.mark.parametrize("late", [TaskState.OPEN, TaskState.IN_PROGRESS, TaskState.DONE])
def test_it_waits_for_every_task_of_its_stages(late: TaskState) -> None:
    assert look(X, task("y", status(late)), Z) == pending("a")
    open_ones = (task(name, status()) for name in "xyz")
    assert look(*open_ones) == pending("b")


def test_who_waits_for_one_stage_names_it() -> None:
    subject = objects.task("last", status=status(), stage="c", dependsOnStages=["a"])
    found = unmet(snapshot(subject, others=(X, task("y", status())), plan=plan()))
    assert found == Unmet("DependencyPending", "waits for the stage 'a'", needs_person=False)


def test_why_it_waits_stays_the_same_when_one_of_many_is_closed() -> None:
    late, subject = task("z", status()), objects.task(status=status(), dependsOn=["x", "y", "z"])
    first = unmet(snapshot(subject, others=(task("x", status()), task("y", status()), late)))
    second = unmet(snapshot(subject, others=(X, task("y", status()), late)))
    assert first == second
    assert first is not None
    assert first.message == "depends on 3 Tasks, of which z is not Closed yet"


def test_a_task_that_is_gone_or_of_others_is_missing() -> None:
    for others in ((X, Z), (X, task("y", closed(2), plan=None), Z)):
        found = look(*others)
        assert found is not None
        assert found.reason == "DependencyFailed"
        assert "'y'" in found.message


def test_what_never_comes_is_told() -> None:
    ended = look(X, task("y", status(TaskState.CANCELLED)), Z)
    waits = look(X, task("y", status(waiting=objects.waits("DependencyFailed"))), Z)
    assert ended == Unmet("DependencyFailed", "Task 'y' ended as Cancelled")
    assert waits is not None
    assert waits.message == "Task 'y' itself waits for what never comes"


def test_it_waits_while_its_plan_still_makes_its_tasks() -> None:
    found = look(X, Y, Z, of=plan(expanded=False, tasks=[]))
    assert found is not None
    assert found.reason == "DependencyPending"


def test_a_stage_that_the_plan_does_not_have_and_a_task_without_a_plan_never_start() -> None:
    rows = [{"name": "x", "stage": "a", "step": 0}]
    for found in (
        look(X, of=plan(tasks=rows)),
        unmet(snapshot(objects.task("alone", plan=None, dependsOnStages=["a"], status=status()))),
    ):
        assert found is not None
        assert found.reason == "DependencyFailed"


def test_rows_that_an_older_release_counted_besides_are_no_dependencies() -> None:
    rows = [*plan().status.model_dump()["tasks"], {"name": "gone", "stage": "a"}]
    assert look(X, Y, Z, of=plan(tasks=rows)) is None


def test_who_waits_for_a_repository_waits_for_every_task_in_it() -> None:
    rows = [
        {"name": "x", "stage": "a", "step": 0, "repository": "api"},
        {"name": "last", "stage": "c", "step": 0, "repository": "web"},
    ]
    subject = objects.task("last", status=status(), stage="c", repo="web", dependsOnRepo="api")

    def wait(peer: Task) -> Unmet | None:
        return unmet(snapshot(subject, others=(peer,), plan=plan(tasks=rows)))

    text = "waits for all of the repository 'api'"
    assert wait(task("x", status())) == Unmet("DependencyPending", text, needs_person=False)
    assert wait(X) is None
