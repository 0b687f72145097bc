"""Of Tasks whose checks wait for the same: who tries it for all, and who follows once it begins."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import (
    AGAIN,
    BEGUN_CHECKS,
    LACKS,
    again,
    begun_checks,
    lacks,
    reasons_lacking,
)
from bernstein.core import pods
from bernstein.core.verification import crowd
from bernstein.core.waiting import failed_at
from bernstein.kube.resource import Key, Object


def ahead(caches: Caches, key: Key) -> int:
    """How many Tasks of its Project wait for the same before a check can run; 0: of those the Task
    tries it for all, or it waits for nothing of that kind."""
    informer = caches.tasks.informer
    task = informer.get(key)
    lacking = lacks(task) if task is not None else ()
    return crowd.ahead(key, (informer.index_keys(LACKS, each) for each in lacking))


def follows(caches: Caches, key: Key, task: Task) -> datetime | None:
    """From when on the Task tries, as pods of the checks that it is to run again have begun."""
    failed = _failed(task)
    if failed is None:
        return None
    informer, reasons = caches.tasks.informer, reasons_lacking(task)
    obj, times = informer.get(key), []
    for check in again(obj) if obj is not None else ():
        place = sum(other < key for other in informer.index_keys(AGAIN, check))
        turn = crowd.follows(place, failed, _begun(caches, check, reasons), reasons)
        if turn is None:
            return None
        times.append(turn)
    return max(times, default=None)


def followers(caches: Caches, pod: Object) -> Collection[Key]:
    """The Tasks that may try now, as this pod of the same check has begun.

    Thousands may wait, and as many pods begin one after another: each Task is told of the one that
    lets it try, and not of all that come after it.
    """
    found = []
    shown: dict[frozenset[str], datetime | None] = {}
    begun: dict[frozenset[str], list[datetime]] = {}
    for check in begun_checks(pod):
        for place, key in enumerate(sorted(caches.tasks.informer.index_keys(AGAIN, check))):
            task = caches.tasks.get(key)
            failed = _failed(task) if task is not None else None
            if task is None or failed is None:
                continue
            reasons = frozenset(reasons_lacking(task))
            if reasons not in shown:
                shown[reasons] = crowd.shown(pod, reasons)
            new = shown[reasons]
            if new is None or new < failed:
                continue
            if reasons not in begun:
                begun[reasons] = _begun(caches, check, reasons)
            if crowd.is_told_by(new, place, failed, begun[reasons], reasons):
                found.append(key)
    return found


def shows_more(old: Object | None, new: Object | None) -> bool:
    """Whether another container of the pod was started."""
    return new is not None and _started(new) > (_started(old) if old is not None else 0)


def _started(pod: Object) -> int:
    return sum(map(pods.has_ever_run, pods.containers(pod)))


def _failed(task: Task) -> datetime | None:
    """When it failed last, while it rests."""
    waiting = task.status.waiting
    return failed_at(waiting) if waiting is not None else None


def _begun(caches: Caches, check: str, reasons: Collection[str]) -> list[datetime]:
    """When pods of the check began to show that none of the reasons keeps it from starting."""
    found = (crowd.shown(pod, reasons) for pod in caches.pods.by_index(BEGUN_CHECKS, check))
    return sorted(time for time in found if time is not None)
