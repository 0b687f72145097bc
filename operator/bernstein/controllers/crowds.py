"""Of Tasks and Plans whose Jobs wait for the same: who tries it for all, and who follows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple, TypeAlias

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import (
    AGAIN,
    BEGUN_CHECKS,
    LACKS,
    RESTS,
    SEEKS,
    again,
    begun_checks,
    is_of_moves,
    lacks,
    of_project,
    reasons_lacking,
    seeks,
)
from bernstein.controllers.caches.parsed import Parsed
from bernstein.core import pods
from bernstein.core.verification import crowd
from bernstein.core.waiting import failed_at, secrets_missed
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object

Those: TypeAlias = Parsed[Task] | Parsed[Plan]
"""All Tasks, or all Plans: those of a kind try for each other."""


class Lacking(NamedTuple):
    """What one waits for."""

    reasons: frozenset[str]
    secrets: frozenset[str] = frozenset()
    """Names of Secrets, of a Job that moves refs."""


def ahead(caches: Caches, key: Key) -> int:
    """How many Tasks of its Project wait for the same before a check can run; 0: of those the Task
    tries it for all, or it waits for nothing of that kind."""
    informer = caches.tasks.informer
    task = informer.get(key)
    lacking = lacks(task) if task is not None else ()
    return crowd.ahead(key, (informer.index_keys(LACKS, each) for each in lacking))


def resting(informer: Informer, own: Key, project: str | None) -> int:
    """How many others of the Project try for themselves what a new pod alone shows; 0 of who comes
    first of those that wait for the same: it tries as if it were alone."""
    obj = informer.get(own)
    sought = seeks(obj) if obj is not None else ()
    if any(crowd.who_tries(informer.index_keys(SEEKS, each)) == own for each in sought):
        return 0
    found = informer.index_keys(RESTS, of_project(own.namespace, project))
    return sum(key != own for key in found)


def follows(caches: Caches, those: Those, key: Key, subject: Task | Plan) -> datetime | None:
    """From when on it tries, as pods of the Jobs that are to run again for it have begun."""
    failed = _failed(subject)
    if failed is None:
        return None
    informer = those.informer
    obj, times = informer.get(key), []
    for check in again(obj) if obj is not None else ():
        place = sum(other < key for other in informer.index_keys(AGAIN, check))
        lacking = _lacking(subject, check)
        turn = crowd.follows(place, failed, _begun(caches, check, lacking), lacking.reasons)
        if turn is None:
            return None
        times.append(turn)
    return max(times, default=None)


def followers(caches: Caches, those: Those, pod: Object) -> Collection[Key]:
    """Those that may try now, as this pod of the same check has begun.

    Thousands may wait, and as many pods begin one after another: each is told of the one that lets
    it try, and not of all that come after it.
    """
    found = []
    shown: dict[Lacking, datetime | None] = {}
    begun: dict[Lacking, list[datetime]] = {}
    for check in begun_checks(pod):
        for place, key in enumerate(sorted(those.informer.index_keys(AGAIN, check))):
            subject = those.get(key)
            failed = _failed(subject) if subject is not None else None
            if subject is None or failed is None:
                continue
            lacking = _lacking(subject, check)
            if lacking not in shown:
                shown[lacking] = _shown(pod, check, lacking)
            new = shown[lacking]
            if new is None or new < failed:
                continue
            if lacking not in begun:
                begun[lacking] = _begun(caches, check, lacking)
            if crowd.is_told_by(new, place, failed, begun[lacking], lacking.reasons):
                found.append(key)
    return found


def shows_more(old: Object | None, new: Object | None) -> bool:
    """Whether another container of the pod was started."""
    return new is not None and _started(new) > (_started(old) if old is not None else 0)


def _started(pod: Object) -> int:
    return sum(map(pods.has_ever_run, pods.containers(pod)))


def next_to_lead(informer: Informer, obj: Object) -> Collection[Key]:
    """Who comes first now of those that seek what this one seeks or sought."""
    found = (crowd.who_tries(informer.index_keys(SEEKS, each)) for each in seeks(obj))
    return [key for key in found if key is not None]


def seeks_otherwise(old: Object | None, new: Object | None) -> bool:
    """It waits no more for something that others may wait for, too."""
    return old is not None and bool({*seeks(old)} - {*(seeks(new) if new is not None else ())})


def _failed(subject: Task | Plan) -> datetime | None:
    """When it failed last, while it rests."""
    waiting = subject.status.waiting
    return failed_at(waiting) if waiting is not None else None


def _lacking(subject: Task | Plan, check: str) -> Lacking:
    waiting = subject.status.waiting
    if not is_of_moves(check) or waiting is None:
        return Lacking(frozenset(reasons_lacking(subject)))
    missed = secrets_missed(waiting.reason, waiting.message)
    return Lacking(frozenset((waiting.reason,)), missed)


def _shown(pod: Object, check: str, lacking: Lacking) -> datetime | None:
    if is_of_moves(check):
        return crowd.shown_by_mover(pod, *lacking)
    return crowd.shown(pod, lacking.reasons)


def _begun(caches: Caches, check: str, lacking: Lacking) -> list[datetime]:
    """When pods of the check began to show that nothing of this keeps it from starting."""
    found = (_shown(pod, check, lacking) for pod in caches.pods.by_index(BEGUN_CHECKS, check))
    return sorted(time for time in found if time is not None)
