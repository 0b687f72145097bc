"""How to have the work of what was cancelled: it was paid for, and stays on its refs."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.core.delivery import kept
from bernstein.core.projects import repositories
from bernstein.kube.errors import Forbidden

_NAMED = 10
"""Tasks whose refs are named."""


async def of_plan(cluster: Cluster, plan: Plan, tasks: Iterable[Task]) -> list[str]:
    """A sentence for what has landed in each repository of a Plan that is or was cancelled, and one
    for each of its Tasks that was cancelled and left something."""
    cancelled = [task for task in tasks if _is_cancelled(task)]
    if plan.spec.cancel is None and not cancelled:
        return []
    project = await project_of(cluster, plan.status.project)
    landed = kept.of_plan(plan, plan.status, project) if plan.spec.cancel is not None else ()
    told = [f"What has landed is kept: `{command}`." for command in landed]
    for task in cancelled[:_NAMED]:
        told += await _of_task(cluster, task, project)
    return told


async def of_task(cluster: Cluster, task: Task) -> list[str]:
    """The same of a Task: at most one sentence."""
    if not _is_cancelled(task):
        return []
    return await _of_task(cluster, task, await project_of(cluster, task.status.project))


def _is_cancelled(task: Task) -> bool:
    return task.spec.cancel is not None and task.status.state is not TaskState.CLOSED


async def _of_task(cluster: Cluster, task: Task, project: Project | None) -> list[str]:
    its = repositories.place_of_task(task, None, project).project
    command = kept.of_task(task.status, await last_session(cluster, task), its)
    return [f"What '{task.metadata.name}' left is kept: `{command}`."] if command else []


async def last_session(cluster: Cluster, task: Task) -> AgentSession | None:
    """None where it had none, or nobody may see it: then only what its status names is known."""
    try:
        sessions = await cluster.sessions(task.metadata.name)
    except Forbidden:
        return None
    return sessions[-1] if sessions else None


async def project_of(cluster: Cluster, name: str | None) -> Project | None:
    try:
        projects = await cluster.projects()
    except Forbidden:
        return None
    return next((project for project in projects if project.metadata.name == name), None)
