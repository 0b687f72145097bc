"""What concerns a Task beside its own events: its session and Jobs, its Plan and its Project."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.predicates import spec_changed
from bernstein.controllers.wiring import Watch
from bernstein.core import labels
from bernstein.core.waiting import is_kept_back
from bernstein.kube.reconcile import controller_key, label_key
from bernstein.kube.resource import Key, Object, key_of
from bernstein.resources import TASKS


def watches(caches: Caches) -> Iterable[Watch]:
    tasks = caches.tasks

    def of_project(project: Object) -> Collection[Key]:
        """Those that may belong to another one now, or to none, and those that wait for it."""
        beside = tasks.by_name(key_of(project).namespace).values()
        return [_key(t) for t in beside if t.status.state is TaskState.OPEN or _is_kept_back(t)]

    def of_plan(plan: Object) -> Collection[Key]:
        its = tasks.of_plan(caches.plans.of(plan).metadata).values()
        return [_key(task) for task in its if _is_kept_back(task)]

    yield Watch(caches.projects.informer, of_project, spec_changed)
    yield Watch(caches.plans.informer, of_plan, spec_changed)
    yield Watch(caches.sessions.informer, controller_key(TASKS))
    yield Watch(caches.jobs, controller_key(TASKS))
    yield Watch(caches.pods, label_key(labels.TASK))


def _is_kept_back(task: Task) -> bool:
    """Verified or not, it waits for a change outside."""
    return task.status.state is TaskState.DONE and is_kept_back(task.status)


def _key(task: Task) -> Key:
    return Key(task.metadata.namespace, task.metadata.name)
