"""What concerns a session: its Job and its pods."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bernstein.controllers.caches import Caches, session_of_pod
from bernstein.controllers.wiring import Watch
from bernstein.kube.reconcile import controller_key
from bernstein.kube.resource import Key, Object, key_of
from bernstein.resources import SESSIONS


def watches(caches: Caches) -> Iterable[Watch]:
    yield Watch(caches.jobs, controller_key(SESSIONS))
    yield Watch(caches.pods, of_agents_pod)


def of_agents_pod(pod: Object) -> Collection[Key]:
    namespace = key_of(pod).namespace
    return [Key(namespace, name) for name in session_of_pod(pod)]
