"""What concerns a Task beside its own events: its session and Jobs, its siblings, its Plan and its
Project."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import partial

from bernstein.api.plan import Plan
from bernstein.api.pod import AGENT
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers import crowds
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import AWAITED, DONE_IN, LACKS, PROPOSED, lacks
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.predicates import (
    of_jobs,
    pod_matters,
    secrets_turned_up,
    session_matters,
    spec_changed,
    watch_changed,
)
from bernstein.controllers.wiring import Watch, own
from bernstein.core import labels
from bernstein.core.scheduling import siblings
from bernstein.core.scheduling.dependencies import awaited, standing
from bernstein.core.scheduling.occupancy import is_ending
from bernstein.core.scheduling.opening import is_new
from bernstein.core.tasks import retention
from bernstein.core.verification.crowd import who_tries
from bernstein.core.verification.round import is_of_base
from bernstein.core.waiting import is_kept_back
from bernstein.kube.informer import Informer
from bernstein.kube.queue import Priority
from bernstein.kube.reconcile import controller_key, label_key
from bernstein.kube.resource import Key, Object, key_of
from bernstein.resources import TASKS

_ASKED = (TaskState.PLANNED, TaskState.PENDING_APPROVAL)
"""States in which people decide; both may lack an author."""
_WAITING = (TaskState.OPEN, TaskState.BLOCKED, *_ASKED)
"""States in which a change of the Project lets a Task go on, or keeps it."""


def watches(caches: Caches) -> Iterable[Watch]:
    tasks, pods = caches.tasks, caches.pods

    def of_project(project: Object) -> Collection[Key]:
        """Those that may belong to another one now, or to none, and those that wait for it."""
        beside = tasks.going(key_of(project).namespace).values()
        return [_key(t) for t in beside if t.status.state in _WAITING or _is_kept_back(t)]

    def kept_back_in(project: Object) -> Collection[Key]:
        its = tasks.going_of_project(DONE_IN, key_of(project))
        return [_key(task) for task in its if _is_kept_back(task)]

    def of_plan(plan: Object) -> Collection[Key]:
        its = tasks.done_of_plan(caches.plans.of(plan).metadata).values()
        return [_key(task) for task in its if _is_kept_back(task)]

    def asked_of(plan: Object) -> Collection[Key]:
        its = tasks.going_of_plan(caches.plans.of(plan).metadata).values()
        return [_key(task) for task in its if task.status.state in _ASKED]

    def planned_of(plan: Object) -> Collection[Key]:
        """Those that a person decides about with the Plan, and those that nobody has looked at: the
        schedule does not begin them any more."""
        its = tasks.going_of_plan(caches.plans.of(plan).metadata).values()
        asked = (t for t in its if t.status.state is TaskState.PLANNED or is_new(t.status))
        return [_key(task) for task in asked]

    def beside(task: Object) -> Collection[Key]:
        """Those of its Plan whose gate fails on their base, too: what it lands may mend that."""
        return [_key(t) for t in tasks.done_beside(task).values() if _awaits_another_base(t)]

    def blocked_on(task: Object) -> Collection[Key]:
        key = key_of(task)
        found = tasks.informer.index_keys(AWAITED, key.name)
        return [each for each in found if each.namespace == key.namespace]

    proposed_in = partial(_proposed_in, tasks)
    turned_up = caches.projects.changes(secrets_turned_up)
    yield Watch(caches.projects.informer, of_project, spec_changed)
    yield Watch(caches.projects.informer, kept_back_in, turned_up)
    yield Watch(caches.projects.informer, proposed_in, caches.projects.changes(watch_changed))
    keeps_otherwise = caches.projects.changes(_keeps_otherwise)
    ended_in = partial(_ended_in, tasks)
    yield Watch(caches.projects.informer, ended_in, keeps_otherwise, priority=_after_all_else)
    yield Watch(tasks.informer, upstream_of, tasks.changes(_waits_no_more))
    yield Watch(tasks.informer, partial(_next_to_try, tasks.informer), _lacks_otherwise)
    lead = partial(crowds.next_to_lead, tasks.informer)
    yield Watch(tasks.informer, lead, crowds.seeks_otherwise)
    yield Watch(tasks.informer, beside, tasks.changes(_sibling_moved))
    yield Watch(tasks.informer, blocked_on, tasks.changes(_stands_otherwise))
    yield from _of_subtasks(caches)
    yield Watch(caches.plans.informer, of_plan, spec_changed)
    yield Watch(caches.plans.informer, planned_of, caches.plans.changes(_asked_otherwise))
    yield Watch(caches.plans.informer, asked_of, spec_changed)
    yield Watch(caches.approvals.informer, controller_key(TASKS))
    yield Watch(caches.sessions.informer, controller_key(TASKS), session_matters)
    yield own(caches.jobs, controller_key(TASKS), of_jobs(caches))
    yield own(pods, of_own_pod, pod_matters)
    follow = partial(crowds.followers, caches, caches.waiting_tasks)
    yield Watch(pods, follow, partial(crowds.shows_more, caches.waiting_tasks))


_TASK_OF_POD = label_key(labels.TASK)


def of_own_pod(pod: Object) -> Collection[Key]:
    """The Task of a pod of its own Jobs; of its agent's, the session tells."""
    return () if pod["metadata"]["labels"].get(labels.JOB) == AGENT else _TASK_OF_POD(pod)


def _of_subtasks(caches: Caches) -> Iterable[Watch]:
    tasks = caches.tasks

    def split_of(plan: Object) -> Collection[Key]:
        """Those that wait for their subtasks, which the Plan may have rows for now."""
        its = tasks.going_of_plan(caches.plans.of(plan).metadata).values()
        return [_key(t) for t in its if t.status.state is TaskState.WAITING_FOR_SUBTASKS]

    yield Watch(tasks.informer, split_into, tasks.changes(_part_moved))
    yield Watch(caches.plans.informer, split_of, caches.plans.changes(_split_otherwise))


def split_into(task: Object) -> Collection[Key]:
    """The Task that was split into it; the label only says whom it may concern."""
    name = task["metadata"].get("labels", {}).get(labels.SUBTASK_OF)
    return [Key(key_of(task).namespace, name)] if name else []


def _part_moved(old: Task | None, new: Task | None) -> bool:
    return _as_part(old) != _as_part(new)


def _as_part(task: Task | None) -> tuple[object, ...] | None:
    if task is None:
        return None
    waiting = task.status.waiting
    told = waiting and (waiting.reason, waiting.message, waiting.needs_person)
    return task.metadata.uid, task.status.state, told, task.spec.cancel is None


def _split_otherwise(old: Plan | None, new: Plan | None) -> bool:
    """It has other rows of subtasks, or was suspended or resumed."""
    return _as_split(old) != _as_split(new)


def _as_split(plan: Plan | None) -> tuple[int, bool] | None:
    return (len(plan.status.tasks), plan.spec.suspend) if plan is not None else None


def upstream_of(task: Object) -> Collection[Key]:
    """The Tasks that it depends on by name: they may be kept for it."""
    return [Key(key_of(task).namespace, name) for name in task["spec"].get("dependsOn", ())]


def _asked_otherwise(old: Plan | None, new: Plan | None) -> bool:
    return (old and old.status.approval) != (new and new.status.approval)


def _proposed_in(tasks: Parsed[Task], project: Object) -> Collection[Key]:
    """Those of the Project that wait for a pull request."""
    return tasks.keys_of_project(PROPOSED, key_of(project))


def _ended_in(tasks: Parsed[Task], project: Object) -> Collection[Key]:
    namespace = key_of(project).namespace
    kept = tasks.going(namespace).values()
    ended = [_key(task) for task in kept if retention.ended_at(task) is not None]
    return [*ended, *sorted(tasks.settled_keys(namespace))]


def _after_all_else(_old: Object | None, _new: Object | None) -> Priority:
    """There may be thousands that have ended; they are kept for days."""
    return Priority.LOW


def _keeps_otherwise(old: Project | None, new: Project | None) -> bool:
    return retention.kept_by(old) != retention.kept_by(new)


def _waits_no_more(old: Task | None, new: Task | None) -> bool:
    needed = old is not None and retention.needs_upstream(old)
    return needed and not (new is not None and retention.needs_upstream(new))


def _next_to_try(tasks: Informer, task: Object) -> Collection[Key]:
    """Who tries now, for all, whether what the Task waits or waited for is there."""
    found = (who_tries(tasks.index_keys(LACKS, each)) for each in lacks(task))
    return [key for key in found if key is not None]


def _lacks_otherwise(old: Object | None, new: Object | None) -> bool:
    """It waits no more for something that others may wait for, too."""
    return old is not None and bool({*lacks(old)} - {*(lacks(new) if new is not None else ())})


def _sibling_moved(old: Task | None, new: Task | None) -> bool:
    """It has landed, or began or ceased to be at work."""
    return _as_sibling(old) != _as_sibling(new)


def _stands_otherwise(old: Task | None, new: Task | None) -> bool:
    """It is something else to those that wait for it."""
    return standing(old) != standing(new) or _waits_for(old) != _waits_for(new)


def _waits_for(task: Task | None) -> tuple[str, ...]:
    return awaited(task) if task is not None else ()


def _as_sibling(task: Task | None) -> tuple[object, ...] | None:
    if task is None:
        return None
    waiting = task.status.waiting
    return task.status.state, waiting and (waiting.reason, waiting.needs_person), is_ending(task)


def _awaits_another_base(task: Task) -> bool:
    return task.status.state is TaskState.DONE and (
        is_of_base(task.status) or siblings.waits_for_them(task.status)
    )


def _is_kept_back(task: Task) -> bool:
    """Verified or not, it waits for a change outside."""
    return task.status.state is TaskState.DONE and is_kept_back(task.status)


def _key(task: Task) -> Key:
    return Key(task.metadata.namespace, task.metadata.name)
