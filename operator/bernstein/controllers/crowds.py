"""Of Tasks and Plans whose Jobs wait for the same: who tries it for all, and who follows."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import (
    LACKS,
    RESTS,
    SEEKS,
    lacks,
    of_project,
    seeks,
    shown,
)
from bernstein.controllers.caches.waiters import Waiters, waits
from bernstein.core.verification import crowd
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object


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


def follows(caches: Caches, those: Waiters, key: Key) -> datetime | None:
    """From when on it tries, as pods of the Jobs that are to run again for it have begun."""
    obj, times = those.informer.get(key), []
    for name, own in (waits(obj) if obj is not None else {}).items():
        if own.failed is None:
            return None
        place, begun = those.place(name, key), caches.times_shown.under(name)
        turn = crowd.follows(place, own.failed, begun)
        if turn is None:
            return None
        times.append(turn)
    return max(times, default=None)


def followers(caches: Caches, those: Waiters, pod: Object) -> Collection[Key]:
    """Those that may try now, as this pod shows what they wait for.

    Each is told of the pod that lets it try, and not of all that come after it.
    """
    found = set()
    for name, since in shown(pod).items():
        begun = caches.times_shown.under(name)
        places = crowd.told(since, those.failed(name), begun)
        for place, one in enumerate(those.those(name)[places], places.start or 0):
            if one.failed is not None and crowd.is_told_by(since, place, one.failed, begun):
                found.add(one.key)
    return found


def shows_more(those: Waiters, old: Object | None, new: Object | None) -> bool:
    """Whether the pod shows more than before to those that wait. Mostly nobody does, and pods
    change often."""
    if new is None or those.nobody_rests:
        return False
    return bool(shown(new).keys() - (shown(old).keys() if old is not None else ()))


def next_to_lead(informer: Informer, obj: Object) -> Collection[Key]:
    """Who comes first now of those that seek what this one seeks or sought."""
    found = (crowd.who_tries(informer.index_keys(SEEKS, each)) for each in seeks(obj))
    return [key for key in found if key is not None]


def seeks_otherwise(old: Object | None, new: Object | None) -> bool:
    """It waits no more for something that others may wait for, too."""
    return old is not None and bool({*seeks(old)} - {*(seeks(new) if new is not None else ())})
