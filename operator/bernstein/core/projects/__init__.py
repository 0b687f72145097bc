"""Which Project an object belongs to. Those of a namespace are given by name, and none of them is
looked at but the one that is named: there may be hundreds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.reasons import Reason
from bernstein.api.task import Task
from bernstein.core.diagnosis import Diagnosis

DEFAULT = "default"


class Membership(NamedTuple):
    """The Project of an object, or why it has none."""

    project: Project | None
    problem: Diagnosis | None = None


def named(projects: Iterable[Project]) -> dict[str, Project]:
    """The Projects of a namespace by name."""
    return {project.metadata.name: project for project in projects}


def of_plan(plan: Plan, projects: Mapping[str, Project]) -> Membership:
    """The Project that the Plan began under; before that, the one that it names."""
    status = plan.status
    if status.project_uid is not None:
        return _pinned(status.project_uid, status.project, projects)
    # An older release did not keep the uid of the Project, but its name.
    began_under = status.project if status.expanded else None
    return resolve(plan.spec.project_ref or began_under, projects)


def of_task(task: Task, plan: Plan | None, projects: Mapping[str, Project]) -> Membership:
    """The Project of its Plan; without one that of its first session, or the one that it names."""
    status = task.status
    if plan is not None and plan.status.project_uid is not None:
        return _pinned(plan.status.project_uid, plan.status.project, projects)
    if status.project_uid is not None:
        return _pinned(status.project_uid, status.project, projects)
    began_under = status.project if status.sessions else None
    return resolve(task.spec.project_ref or began_under, projects)


def members(
    project: Project,
    tasks: Mapping[str, Task],
    plan_of: Mapping[str, Plan],
    projects: Mapping[str, Project],
) -> list[Task]:
    """The Tasks of the Project. By name: `tasks` of its namespace, and the Plan of each.

    A Task that began under a Project that was deleted is of none, whoever has that name now.
    """
    return [
        task
        for name, task in tasks.items()
        if of_task(task, plan_of.get(name), projects).project is project
    ]


def _pinned(uid: str, name: str | None, projects: Mapping[str, Project]) -> Membership:
    project = _living(name, projects)
    if project is not None and project.metadata.uid == uid:
        return Membership(project)
    text = f"Project '{name}', under which it began, was deleted"
    if project is not None:
        text += "; the one that has this name now is another"
    return Membership(None, Diagnosis(Reason.PROJECT_GONE, text))


def _living(name: str | None, projects: Mapping[str, Project]) -> Project | None:
    project = projects.get(name) if name is not None else None
    if project is None or project.metadata.deletion_timestamp is not None:
        return None
    return project


def resolve(ref: str | None, projects: Mapping[str, Project]) -> Membership:
    """The Project that an object names.

    An object that names none belongs to the only Project, or to the one called `default`.
    """
    found = _living(DEFAULT if ref is None else ref, projects)
    if found is not None:
        return Membership(found)
    if ref is not None:
        return _none(f"there is no Project '{ref}' in this namespace")
    living = [p for p in projects.values() if p.metadata.deletion_timestamp is None]
    if len(living) == 1:
        return Membership(living[0])
    if not living:
        return _none("there is no Project in this namespace")
    return _none(
        f"there are {len(living)} Projects and none is named '{DEFAULT}': name one in projectRef"
    )


def _none(text: str) -> Membership:
    return Membership(None, Diagnosis(Reason.PROJECT_NOT_FOUND, text))
