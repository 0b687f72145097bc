"""What concerns a session: its Job and its pods."""

from __future__ import annotations

from collections.abc import Iterable

from bernstein.controllers.caches import Caches
from bernstein.controllers.wiring import Watch
from bernstein.core import labels
from bernstein.kube.reconcile import controller_key, label_key
from bernstein.resources import SESSIONS


def watches(caches: Caches) -> Iterable[Watch]:
    yield Watch(caches.jobs, controller_key(SESSIONS))
    yield Watch(caches.pods, label_key(labels.SESSION))
