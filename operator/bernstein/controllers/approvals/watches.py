"""What concerns an Approval: the Task or Plan that asks."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.job_views import OWNER
from bernstein.controllers.wiring import Watch
from bernstein.core.approvals.decide import bypasses_of
from bernstein.kube.resource import Key, Object, key_of, uid_of


def watches(caches: Caches) -> Iterable[Watch]:
    approvals = caches.approvals.informer

    def about(subject: Object) -> Collection[Key]:
        return [key_of(approval) for approval in approvals.by_index(OWNER, uid_of(subject))]

    yield Watch(caches.tasks.informer, about, caches.tasks.changes(_asks_otherwise))
    yield Watch(caches.plans.informer, about, caches.plans.changes(_asks_otherwise))


def _asks_otherwise(old: Task | Plan | None, new: Task | Plan | None) -> bool:
    return _asks(old) != _asks(new) or bypasses_of(old) != bypasses_of(new)


def _asks(subject: Task | Plan | None) -> tuple[AskedApproval, ...]:
    if isinstance(subject, Plan):
        return subject.status.asked
    asked = subject.status.approval if subject is not None else None
    return () if asked is None else (asked,)
