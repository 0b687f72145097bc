"""From the caches to what decisions look at."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.controllers.caches import OWNER, PLAN, Caches
from bernstein.core import names, projects
from bernstein.core.intents import PlanSnapshot, TaskSnapshot
from bernstein.kube.resource import Key


async def task_snapshot(caches: Caches, key: Key, now: datetime) -> TaskSnapshot | None:
    """None: the Task is gone."""
    task = caches.tasks.get(key)
    if task is None:
        return None
    found = projects.resolve(task.spec.project_ref, caches.projects.by_name(key.namespace).values())
    plan = _plan_of(caches, task)
    sessions = caches.sessions.by_name(key.namespace)
    current = sessions.get(task.status.session or "")
    mine = current is not None and current.spec.task_ref.uid == task.metadata.uid
    return TaskSnapshot(
        task=task,
        project=None if isinstance(found, str) else found,
        project_problem=found if isinstance(found, str) else None,
        plan=plan,
        plan_missing=plan is None and names.LABEL_PLAN in task.metadata.labels,
        session=current if mine else None,
        jobs=await caches.jobs_of(task.metadata.uid, now),
        tasks=caches.tasks.by_name(key.namespace),
        sessions=sessions,
        plans=caches.plans.by_name(key.namespace),
        turns=caches.turns(key.namespace),
    )


def _plan_of(caches: Caches, task: Task) -> Plan | None:
    name = task.metadata.labels.get(names.LABEL_PLAN)
    if name is None:
        return None
    for plan in caches.plans.by_name(task.metadata.namespace).values():
        owned = caches.tasks.by_index(OWNER, plan.metadata.uid)
        if task.metadata.name in owned and plan.metadata.deletion_timestamp is None:
            return plan
    return None


async def plan_snapshot(caches: Caches, plan: Plan, now: datetime) -> PlanSnapshot:
    """The Plan with its Tasks, sessions and Jobs."""
    namespace = plan.metadata.namespace
    found = projects.resolve(plan.spec.project_ref, caches.projects.by_name(namespace).values())
    return PlanSnapshot(
        plan=plan,
        project=None if isinstance(found, str) else found,
        project_problem=found if isinstance(found, str) else None,
        tasks=caches.tasks.by_index(OWNER, plan.metadata.uid),
        sessions=caches.sessions.by_index(PLAN, plan.metadata.uid).values(),
        jobs=await caches.jobs_of(plan.metadata.uid, now),
    )
