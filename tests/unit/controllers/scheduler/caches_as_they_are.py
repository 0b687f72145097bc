"""A Project as all objects in the caches are now."""

from __future__ import annotations

from collections import defaultdict

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.snapshots import beginning
from bernstein.core import owners, projects
from bernstein.core.delivery import ledger
from bernstein.kube.resource import Key
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot


def project_snapshot(caches: Caches, key: Key) -> ProjectSnapshot | None:
    """The Project with all Tasks that it has to do with; None: it is gone or being deleted."""
    project = caches.projects.get(key)
    if project is None or project.metadata.deletion_timestamp is not None:
        return None
    tasks, plan_of = caches.tasks.going(key.namespace), _plans(caches, key.namespace)
    beside = caches.projects.by_name(key.namespace)
    return ProjectSnapshot(
        project=project,
        members=projects.members(project, tasks, plan_of, beside),
        plan_of=plan_of,
        tasks=tasks,
        sessions=caches.sessions.going(key.namespace),
        beginning=beginning(caches, project),
    )


def _plans(caches: Caches, namespace: str) -> dict[str, Plan]:
    """The Plan of each Task that has one and goes on, by the Task's name."""
    owned: defaultdict[tuple[str, str], dict[str, Task]] = defaultdict(dict)
    for name, task in caches.tasks.going(namespace).items():
        owner = owners.plan_of(task)
        if owner is not None:
            owned[owner.name, owner.uid][name] = task
    found: dict[str, Plan] = {}
    for (name, uid), tasks in owned.items():
        plan = caches.plans.get(Key(namespace, name))
        if plan is None or plan.metadata.uid != uid or plan.metadata.deletion_timestamp is not None:
            continue
        found |= dict.fromkeys(ledger.members(plan.status, tasks), plan)
    return found
