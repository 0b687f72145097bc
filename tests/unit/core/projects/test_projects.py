"""Which Project an object belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import projects
from bernstein.core.projects import named
from tests.unit.core import objects
from tests.unit.core.objects import NOW, project

ONE, TWO, DEFAULT = project("one"), project("two"), project("default")
LEAVING = ONE.model_copy(
    update={"metadata": ONE.metadata.model_copy(update={"deletion_timestamp": NOW})}
)


@pytest.mark.parametrize(
    ("ref", "offered", "found"),
    [
        ("two", [ONE, TWO], "two"),
        (None, [ONE], "one"),
        (None, [ONE, DEFAULT], "default"),
        (None, [ONE, TWO], "there are 2 Projects"),
        (None, [], "there is no Project"),
        ("three", [ONE], "there is no Project 'three'"),
        ("one", [LEAVING], "there is no Project 'one'"),
        (None, [LEAVING, TWO], "two"),
    ],
)
def test_a_project_is_named_or_the_only_one_or_the_default(
    ref: str | None, offered: list[Project], found: str
) -> None:
    got, problem = projects.resolve(ref, named(offered))

    assert found in (got.metadata.name if got is not None else str(problem))


@pytest.mark.parametrize("ref", ["one", "two"])
def test_what_has_not_begun_is_of_the_project_that_it_names(ref: str) -> None:
    there = named([ONE, TWO, DEFAULT])

    of_plan = projects.of_plan(objects.plan(status=PlanStatus(), projectRef=ref), there)
    of_task = projects.of_task(objects.task(plan=None, projectRef=ref), None, there)

    assert (of_plan.project, of_task.project) == (there[ref], there[ref])


REMADE = DEFAULT.model_copy(
    update={"metadata": DEFAULT.metadata.model_copy(update={"uid": "another"})}
)


def begun(**more: Any) -> Plan:
    pinned = {"project": "default", "project_uid": DEFAULT.metadata.uid, "expanded": True}
    return objects.plan(status=PlanStatus.model_validate(pinned | more), projectRef=None)


def ran(**more: Any) -> Task:
    pinned = {"project_uid": DEFAULT.metadata.uid} | more
    status = objects.with_session(TaskState.IN_PROGRESS, **pinned)
    return objects.task(plan=None, projectRef=None, status=status)


@pytest.mark.parametrize("offered", [[DEFAULT], [DEFAULT, ONE], [ONE, TWO, DEFAULT]])
def test_what_has_begun_stays_with_its_project(offered: list[Project]) -> None:
    assert projects.of_plan(begun(), named(offered)).project == DEFAULT
    assert projects.of_task(ran(), None, named(offered)).project == DEFAULT


@pytest.mark.parametrize(
    ("offered", "told"),
    [([], "was deleted"), ([ONE], "was deleted"), ([ONE, REMADE], "is another")],
)
def test_it_goes_over_to_no_other_project_whatever_its_name(
    offered: list[Project], told: str
) -> None:
    there = named(offered)
    for found in (projects.of_plan(begun(), there), projects.of_task(ran(), None, there)):
        assert found.project is None
        assert found.problem is not None
        assert found.problem.reason == "ProjectGone"
        assert told in found.problem.message


def test_a_plans_task_has_the_project_of_its_plan() -> None:
    elsewhere = objects.task(projectRef="one", status=objects.status(project_uid="uid-one"))

    assert projects.of_task(elsewhere, begun(), named([ONE, DEFAULT])).project == DEFAULT


def test_what_an_older_release_began_stays_with_the_project_of_that_name() -> None:
    app = project("app")
    there = named([app, DEFAULT])

    assert projects.of_plan(begun(project="app", project_uid=None), there).project == app
    assert projects.of_task(ran(project="app", project_uid=None), None, there).project == app


def test_what_has_not_begun_has_the_project_that_is_meant_now() -> None:
    waiting = objects.task(plan=None, projectRef=None, status=objects.status(project="app"))

    assert projects.of_task(waiting, None, named([project("app"), DEFAULT])).project == DEFAULT
