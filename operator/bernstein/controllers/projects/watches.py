"""What concerns a Project: how many agents work for it, its NetworkPolicies, and its probe."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from bernstein.api.plan import Plan
from bernstein.api.pod import PROBE, PRUNE
from bernstein.api.programs.cached import CACHE
from bernstein.api.programs.forge_jobs import PROPOSE, WATCH
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import limits_of
from bernstein.controllers.predicates import of_jobs, pod_matters
from bernstein.controllers.wiring import Watch, own
from bernstein.core import labels
from bernstein.core.diagnosis import claimed
from bernstein.core.pods import is_scheduled
from bernstein.core.projects.proofs import begun, started
from bernstein.core.retention.refs import has_finished
from bernstein.core.scheduling.occupancy import is_active
from bernstein.core.waiting import secrets_missed
from bernstein.kube.reconcile import controller_key
from bernstein.kube.resource import Key, Object, is_deleting, key_of
from bernstein.resources import PROJECTS

COUNT_SECONDS = 1.0
"""How many agents are at work is counted and written at most so often, and at last rightly. So is
looked whether anything misses a Secret."""


def pause(_old: Object | None, _new: Object | None) -> float:
    return COUNT_SECONDS


def watches(caches: Caches) -> Iterable[Watch]:
    tasks = caches.tasks
    counts = tasks.changes(starts_or_ends)
    yield Watch(tasks.informer, project_of, when=counts, pause=pause)
    for waiters in (tasks, caches.plans):
        misses = waiters.changes(misses_otherwise)
        yield Watch(waiters.informer, project_of, when=misses, pause=pause)
    plans = caches.plans
    yield Watch(plans.informer, project_of, when=plans.changes(has_begun), pause=pause)
    yield Watch(tasks.informer, project_of, when=tasks.changes(has_started), pause=pause)
    for proposers in (plans, tasks):
        proposes = proposers.changes(is_proposed_otherwise)
        yield Watch(proposers.informer, project_of, when=proposes)
        yield Watch(proposers.informer, project_of, when=is_limited_otherwise)
        yield Watch(proposers.informer, project_of, when=goes, pause=pause)
        ends = proposers.changes(ends_otherwise)
        yield Watch(proposers.informer, project_of, when=ends, pause=pause)
    yield Watch(caches.sessions.informer, project_of_session, when=leaves, pause=pause)
    yield Watch(caches.network_policies, controller_key(PROJECTS))
    yield own(caches.jobs, controller_key(PROJECTS), of_jobs(caches))
    yield own(caches.pods, of_own_pod, pod_matters)
    yield Watch(caches.pods, of_reader, when=waits_otherwise)


def project_of(obj: Object) -> Collection[Key]:
    """The Project that a Task or Plan says it belongs to."""
    name = obj.get("status", {}).get("project")
    return (Key(key_of(obj).namespace, name),) if name else ()


def project_of_session(session: Object) -> Collection[Key]:
    return (Key(key_of(session).namespace, session["spec"]["project"]),)


def goes(_old: Object | None, new: Object | None) -> bool:
    """It is gone: what it leaves is in memory alone."""
    return new is None


def leaves(_old: Object | None, new: Object | None) -> bool:
    """The session is being deleted, and nothing is added to what it leaves any more."""
    if new is None or not is_deleting(new):
        return False
    return (new.get("status") or {}).get("state") == SessionState.DEAD


def ends_otherwise(old: Task | Plan | None, new: Task | Plan | None) -> bool:
    """It has ended, or goes on again."""
    return _ended(old) != _ended(new)


def _ended(owner: Task | Plan | None) -> datetime | None:
    return has_finished(owner) if owner is not None else None


def of_own_pod(pod: Object) -> Collection[Key]:
    """The Project whose credentials are tried in it, pull requests watched, refs deleted, pull
    requests closed, or whose cache is filled."""
    of_pod = pod["metadata"]["labels"]
    kinds = (PROBE, WATCH, PRUNE, CACHE)
    # What closes for a Project is asked by it: others that propose are asked by a Plan or a Task.
    closes = of_pod.get(labels.JOB) == PROPOSE and labels.ASKED in of_pod
    if (of_pod.get(labels.JOB) not in kinds and not closes) or labels.PROJECT not in of_pod:
        return ()
    return (Key(key_of(pod).namespace, of_pod[labels.PROJECT]),)


def of_reader(pod: Object) -> Collection[Key]:
    """The Project of a pod that was told of its cache."""
    name = pod["metadata"]["labels"].get(labels.PROJECT)
    return (Key(key_of(pod).namespace, name),) if name and claimed(pod) else ()


def waits_otherwise(old: Object | None, new: Object | None) -> bool:
    """It begins to wait for a claim, or its scheduler says something else of it."""
    if new is None or claimed(new) is None or is_scheduled(new):
        return False
    return old is None or old.get("status") != new.get("status")


def has_begun(old: Plan | None, new: Plan | None) -> bool:
    """Its begin went well just now, which may speak against what the probe has found."""
    return new is not None and begun(new) is not None and (old is None or begun(old) is None)


def has_started(old: Task | None, new: Task | None) -> bool:
    """The agent of a Task without a Plan has started just now."""
    return new is not None and started(new) is not None and (old is None or started(old) is None)


def is_proposed_otherwise(old: Task | Plan | None, new: Task | Plan | None) -> bool:
    """It waits for another pull request than before, or for none any more."""
    return _proposed(old) != _proposed(new)


def _proposed(waiter: Task | Plan | None) -> list[tuple[str, int]]:
    """The repositories and numbers of the pull requests that it waits for."""
    if waiter is None or waiter.status.ended_at is not None:
        return []
    rows = waiter.status.repositories if isinstance(waiter, Plan) else ()
    deliveries = [(row.name, row.delivery) for row in rows] or [("", waiter.status.delivery)]
    return [
        (name, delivery.pull_request.number)
        for name, delivery in deliveries
        if delivery is not None and delivery.pull_request is not None and delivery.is_watched
    ]


def is_limited_otherwise(old: Object | None, new: Object | None) -> bool:
    """A Job of it has met a limit of the forge that none of its had met before."""
    met = limits_of(new) if new is not None else frozenset()
    return bool(met - (limits_of(old) if old is not None else frozenset()))


def misses_otherwise(old: Task | Plan | None, new: Task | Plan | None) -> bool:
    """It waits for a missing Secret, or does not any more."""
    return _misses(old) != _misses(new)


def _misses(waiter: Task | Plan | None) -> frozenset[str]:
    waiting = waiter.status.waiting if waiter is not None else None
    return secrets_missed(waiting.reason, waiting.message) if waiting is not None else frozenset()


def starts_or_ends(old: Task | None, new: Task | None) -> bool:
    """The number of agents at work may have changed."""
    return (is_active(old), _project(old)) != (is_active(new), _project(new))


def _project(task: Task | None) -> str | None:
    return task.status.project if task is not None else None
