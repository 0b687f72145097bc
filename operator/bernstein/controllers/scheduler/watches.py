"""What concerns the schedule of a Project: whatever scheduling reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import UPSTREAM
from bernstein.controllers.predicates import spec_changed
from bernstein.controllers.snapshots import project_of
from bernstein.controllers.wiring import Watch
from bernstein.core.approvals import plans
from bernstein.core.scheduling import begin_turns, expressions
from bernstein.kube.resource import Key, Object, key_of


def watches(caches: Caches) -> Iterable[Watch]:
    tasks, projects = caches.tasks, caches.projects

    def of_task(task: Object) -> Collection[Key]:
        """Its Project, and those of the Tasks that depend on it."""
        key = key_of(task)
        own = task.get("status", {}).get("project") or project_named(tasks.of(task))
        beside = projects.going(key.namespace)
        # Who depends on it may be many; where there is one Project, they are its own.
        downstream = of_downstream(key) if len(beside) > 1 or own not in beside else ()
        others = {name for name in downstream if name in beside} - {own}
        return [Key(key.namespace, name) for name in (own, *others) if name]

    def of_downstream(key: Key) -> Iterable[str | None]:
        """The names of the Projects of the Tasks that depend on it, which may be many."""
        return map(project_named, tasks.going_by_index(key.namespace, UPSTREAM, key.name).values())

    def project_named(task: Task) -> str | None:
        """The name of its Project; the status of one that nobody has looked at says none."""
        name = task.status.project
        if name is not None:
            return name
        found = project_of(caches, task)
        return found.metadata.name if found is not None else None

    def of_plan(plan: Object) -> Collection[Key]:
        """The Project under which it began, and all its Tasks with it. Before that, and once it
        goes, they may be anybody's."""
        key = key_of(plan)
        now = caches.plans.get(key)
        if now is not None and now.metadata.deletion_timestamp is None:
            pinned, name = now.status.project_uid, now.status.project
            if pinned is not None and name is not None:
                return (Key(key.namespace, name),)
        return projects.informer.keys(key.namespace)

    def beside(role: Object) -> Collection[Key]:
        """All Projects of the namespace: Tasks of any may have the role."""
        return projects.informer.keys(key_of(role).namespace)

    yield Watch(caches.roles.informer, beside, spec_changed)
    yield Watch(tasks.informer, of_task, tasks.changes(task_matters))
    yield Watch(caches.plans.informer, of_plan, caches.plans.changes(plan_matters))


def task_matters(old: Task | None, new: Task | None) -> bool:
    """Something that scheduling reads has changed, if only that the Task is gone."""
    return _as_scheduled(old) != _as_scheduled(new)


def _as_scheduled(task: Task | None) -> tuple[object, ...] | None:
    if task is None:
        return None
    meta, status = task.metadata, task.status
    delivery = status.delivery
    return (
        meta.uid,
        meta.generation,
        meta.deletion_timestamp,
        status.project,
        # Whether its agent runs yet makes no difference to others.
        TaskState.CLAIMED if status.state is TaskState.IN_PROGRESS else status.state,
        status.waiting,
        expressions.is_judged(task, status),
        delivery and (delivery.step, delivery.onto),
    )


def plan_matters(old: Plan | None, new: Plan | None) -> bool:
    """Its spec has changed, or it has begun, ended or goes on again, with its Tasks or without, or
    a person is asked about it or has answered, or it comes or goes."""
    return _as_read(old) != _as_read(new)


def _as_read(plan: Plan | None) -> tuple[object, ...] | None:
    if plan is None:
        return None
    meta, status = plan.metadata, plan.status
    ended, part = status.ended_at is not None, status.partial is not None
    return (
        *(meta.uid, meta.generation, meta.deletion_timestamp),
        *(status.integration, status.beginning, begin_turns.takes_one(status)),
        *(ended, part, plans.is_unapproved(status)),
    )
