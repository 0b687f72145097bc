"""Which Project an object belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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


def of_plan(plan: Plan, projects: Iterable[Project]) -> Membership:
    """The Project that the Plan began under; before that, the one that it names."""
    status = plan.status
    if status.project_uid is not None:
        return _pinned(status.project_uid, status.project, projects)
    # An older release did not keep the uid of the Project, but its name.
    began_under = status.project if status.expanded else None
    return resolve(plan.spec.project_ref or began_under, projects)


def of_task(task: Task, plan: Plan | None, projects: Iterable[Project]) -> Membership:
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
    projects: Collection[Project],
) -> list[Task]:
    """The Tasks of the Project. By name: `tasks` of its namespace, and the Plan of each.

    A Task that began under a Project that was deleted is of none, whoever has that name now.
    """
    return [
        task
        for name, task in tasks.items()
        if of_task(task, plan_of.get(name), projects).project is project
    ]


def _pinned(uid: str, name: str | None, projects: Iterable[Project]) -> Membership:
    living = [p for p in projects if p.metadata.deletion_timestamp is None]
    for project in living:
        if project.metadata.uid == uid:
            return Membership(project)
    text = f"Project '{name}', under which it began, was deleted"
    if any(project.metadata.name == name for project in living):
        text += "; the one that has this name now is another"
    return Membership(None, Diagnosis(Reason.PROJECT_GONE, text))


def resolve(ref: str | None, projects: Iterable[Project]) -> Membership:
    """The Project that an object names.

    An object that names none belongs to the only Project, or to the one called `default`.
    """
    by_name = {p.metadata.name: p for p in projects if p.metadata.deletion_timestamp is None}
    if ref is not None and ref not in by_name:
        return _none(f"there is no Project '{ref}' in this namespace")
    if ref is not None:
        return Membership(by_name[ref])
    if len(by_name) == 1:
        return Membership(next(iter(by_name.values())))
    if DEFAULT in by_name:
        return Membership(by_name[DEFAULT])
    if not by_name:
        return _none("there is no Project in this namespace")
    return _none(
        f"there are {len(by_name)} Projects and none is named '{DEFAULT}': name one in projectRef"
    )


def _none(text: str) -> Membership:
    return Membership(None, Diagnosis(Reason.PROJECT_NOT_FOUND, text))
