"""What concerns a session: its Job and its pods, and how its Task judges what it left."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import session_of_pod
from bernstein.controllers.predicates import of_jobs, pod_matters
from bernstein.controllers.wiring import Watch
from bernstein.core.sessions.reading import REPORTED
from bernstein.kube.reconcile import controller_key
from bernstein.kube.resource import Key, Object, key_of
from bernstein.resources import SESSIONS


def watches(caches: Caches) -> Iterable[Watch]:
    yield Watch(caches.jobs, controller_key(SESSIONS), of_jobs(caches))
    yield Watch(caches.pods, of_agents_pod, pod_matters)
    yield Watch(caches.tasks.informer, _last_session, _judged_anew)


def of_agents_pod(pod: Object) -> Collection[Key]:
    namespace = key_of(pod).namespace
    return [Key(namespace, name) for name in session_of_pod(pod)]


def _last_session(task: Object) -> Collection[Key]:
    """The session that the Task's last attempt was, if one has ended."""
    return [Key(key_of(task).namespace, each["session"]) for each in _attempts(task)[-1:]]


def _judged_anew(old: Object | None, new: Object | None) -> bool:
    return new is not None and (old is None or _judgement(old) != _judgement(new))


def _judgement(task: Object) -> object:
    """The part of a Task that says how the last session's work was judged."""
    passed = (task.get("status", {}).get("verification") or {}).get("passed")
    told = [(each["session"], each["reason"]) for each in _attempts(task)[-1:]]
    # That it reports success says no more than the session itself, until that is judged.
    return [(name, reason) for name, reason in told if reason != REPORTED or passed]


def _attempts(task: Object) -> list[Object]:
    return task.get("status", {}).get("attempts") or []
