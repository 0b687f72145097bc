"""What concerns a Task: its session and Jobs, its Plan and Project, and whoever stands before it.

`core.scheduling.occupancy` says who has what; this module says only who waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from bernstein.api.plan import Plan
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.controllers.caches import UPSTREAM, Caches
from bernstein.controllers.job_views import OWNER
from bernstein.controllers.predicates import readiness_changed, spec_changed
from bernstein.controllers.wiring import Watch
from bernstein.core import labels
from bernstein.core.conditions import is_stalled
from bernstein.core.scheduling import occupancy
from bernstein.kube.queue import Priority
from bernstein.kube.reconcile import Mapper, controller_key, label_key
from bernstein.kube.resource import Key, Object, key_of, uid_of
from bernstein.resources import TASKS

_OVER = frozenset({TaskState.CLOSED, TaskState.CANCELLED, TaskState.FAILED})


def watches(caches: Caches) -> Iterable[Watch]:
    tasks, plans, projects = caches.tasks, caches.plans, caches.projects
    starting = _beside(caches, is_open)
    landing = _beside(caches, waits_to_land)
    batch = _beside(caches, waits_for_batch)
    waiting = _beside(caches, waits)

    def dependants(task: Object) -> Collection[Key]:
        key = key_of(task)
        downstream = (tasks.of(obj) for obj in tasks.informer.by_index(UPSTREAM, key.name))
        return [_key(t) for t in downstream if t.metadata.namespace == key.namespace and waits(t)]

    def of_plan(plan: Object) -> Collection[Key]:
        candidates = tasks.by_index(OWNER, uid_of(plan)).values()
        return [_key(task) for task in candidates if waits(task)]

    yield Watch(tasks.informer, starting, tasks.changes(frees_a_start), priority=_last)
    yield Watch(tasks.informer, landing, tasks.changes(frees_a_landing))
    yield Watch(tasks.informer, batch, tasks.changes(leaves_the_line))
    yield Watch(tasks.informer, dependants, tasks.changes(matters_downstream))
    yield Watch(plans.informer, of_plan, spec_changed)
    yield Watch(plans.informer, of_plan, plans.changes(lets_go))
    yield Watch(projects.informer, waiting, spec_changed)
    yield Watch(projects.informer, waiting, projects.changes(readiness_changed))
    yield Watch(caches.sessions.informer, controller_key(TASKS))
    yield Watch(caches.jobs, controller_key(TASKS))
    yield Watch(caches.pods, label_key(labels.TASK))


def _beside(caches: Caches, when: Callable[[Task], bool]) -> Mapper:
    """Maps an object to the Tasks of its namespace for which `when` is true."""

    def mapper(changed: Object) -> Collection[Key]:
        tasks = caches.tasks.by_name(key_of(changed).namespace).values()
        return [_key(task) for task in tasks if when(task)]

    return mapper


def _key(task: Task) -> Key:
    return Key(task.metadata.namespace, task.metadata.name)


def _last(_: Object | None, __: Object | None) -> Priority:
    """What waits for an agent comes after what is on its way."""
    return Priority.LOW


# --- who waits ------------------------------------------------------------------------------------


def is_open(task: Task) -> bool:
    return task.status.state is TaskState.OPEN


def waits_to_land(task: Task) -> bool:
    status = task.status
    held = status.queue is not None or status.hold is not None
    return status.state is TaskState.DONE and held


def waits(task: Task) -> bool:
    return is_open(task) or waits_to_land(task)


def waits_for_batch(task: Task) -> bool:
    return task.status.queue is not None and task.status.queue.reason == WaitReason.BATCH_WAITS


# --- what frees them ------------------------------------------------------------------------------


def frees_a_start(old: Task | None, new: Task | None) -> bool:
    """A Task gives back what another may need to start: an agent, files, its turn, a hold."""
    return not occupancy.taken_by(old) <= occupancy.taken_by(new)


def frees_a_landing(old: Task | None, new: Task | None) -> bool:
    """A Task no longer stands where another one waits to land."""
    return occupancy.place_in_lane(old) not in (None, occupancy.place_in_lane(new))


def leaves_the_line(old: Task | None, new: Task | None) -> bool:
    """A Task that was ready is not any more: batch Tasks wait until no other is."""
    return occupancy.is_ready(old) and not occupancy.is_ready(new)


def matters_downstream(old: Task | None, new: Task | None) -> bool:
    """Tasks that depend on this one may go on, or never will."""
    return _as_upstream(old) != _as_upstream(new)


def _as_upstream(task: Task | None) -> tuple[TaskState | None, bool, bool] | None:
    if task is None:
        return None
    status = task.status
    state = status.state if status.state in _OVER else None
    queue = status.queue.reason if status.queue is not None else None
    return state, is_stalled(status), queue == Reason.DEPENDENCY_FAILED


def lets_go(old: Plan | None, new: Plan | None) -> bool:
    """A Plan has begun, or has ended: its Tasks may have to look again."""
    return _course(old) != _course(new)


def _course(plan: Plan | None) -> tuple[object, ...] | None:
    if plan is None:
        return None
    status = plan.status
    return status.integration, status.expanded, status.ended_at
