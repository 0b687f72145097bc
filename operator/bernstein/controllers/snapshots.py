"""Makes from the caches the snapshots that decisions look at."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.caches import PLAN, Caches
from bernstein.controllers.job_views import OWNER
from bernstein.core import labels, projects
from bernstein.core.snapshot import PlanSnapshot, ProjectSnapshot, TaskSnapshot
from bernstein.kube.resource import Key


async def task_snapshot(caches: Caches, key: Key, now: datetime) -> TaskSnapshot | None:
    """The Task with all that its decision looks at; None: the Task is gone."""
    task = caches.tasks.get(key)
    if task is None:
        return None
    project = projects.resolve(
        task.spec.project_ref, caches.projects.by_name(key.namespace).values()
    )
    plan = _plan_of(caches, task)
    current = caches.sessions.by_name(key.namespace).get(task.status.session or "")
    is_own = current is not None and current.spec.task_ref.uid == task.metadata.uid
    return TaskSnapshot(
        task=task,
        project=None if isinstance(project, str) else project,
        project_problem=project if isinstance(project, str) else None,
        plan=plan,
        plan_missing=plan is None and labels.PLAN in task.metadata.labels,
        session=current if is_own else None,
        jobs=await caches.job_views.of(task.metadata, now),
        tasks=caches.tasks.by_name(key.namespace),
    )


def _plan_of(caches: Caches, task: Task) -> Plan | None:
    name = task.metadata.labels.get(labels.PLAN)
    if name is None:
        return None
    for plan in caches.plans.by_name(task.metadata.namespace).values():
        owned = caches.tasks.by_index(OWNER, plan.metadata.uid)
        if task.metadata.name in owned and plan.metadata.deletion_timestamp is None:
            return plan
    return None


def project_snapshot(caches: Caches, key: Key) -> ProjectSnapshot | None:
    """The Project with all Tasks that it has to do with; None: it is gone or being deleted.

    It may be read only until an await: it changes with the caches.
    """
    project = caches.projects.get(key)
    if project is None or project.metadata.deletion_timestamp is not None:
        return None
    tasks = caches.tasks.by_name(key.namespace)
    return ProjectSnapshot(
        project=project,
        members=_members(caches, project, tasks),
        plan_of=_plans(caches, key.namespace),
        tasks=tasks,
        sessions=caches.sessions.by_name(key.namespace),
    )


def _members(caches: Caches, project: Project, tasks: Mapping[str, Task]) -> list[Task]:
    """The Project's Tasks; of those that are Open the ones that would still come to it today."""
    name = project.metadata.name
    others = caches.projects.by_name(project.metadata.namespace).values()
    refs = {None: projects.resolve(None, others), name: project}
    return [
        task
        for task in tasks.values()
        if task.status.project == name
        and (task.status.state is not TaskState.OPEN or refs.get(task.spec.project_ref) is project)
    ]


def _plans(caches: Caches, namespace: str) -> dict[str, Plan]:
    """The Plan of each Task that has one, by the Task's name."""
    plans = caches.plans.by_name(namespace).values()
    return {
        obj["metadata"]["name"]: plan
        for plan in plans
        if plan.metadata.deletion_timestamp is None
        for obj in caches.tasks.informer.by_index(OWNER, plan.metadata.uid)
    }


async def plan_snapshot(caches: Caches, plan: Plan, now: datetime) -> PlanSnapshot:
    """The Plan with its Tasks, sessions and Jobs."""
    namespace = plan.metadata.namespace
    project = projects.resolve(plan.spec.project_ref, caches.projects.by_name(namespace).values())
    return PlanSnapshot(
        plan=plan,
        project=None if isinstance(project, str) else project,
        project_problem=project if isinstance(project, str) else None,
        tasks=caches.tasks.by_index(OWNER, plan.metadata.uid),
        sessions=caches.sessions.by_index(PLAN, plan.metadata.uid).values(),
        jobs=await caches.job_views.of(plan.metadata, now),
    )
