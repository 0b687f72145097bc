"""Who waits for what a new pod alone shows to be there, and when pods have shown it, in order.

Kept at each event of a cache: thousands may wait, and as many pods begin, so that nothing walks
through those at each look, or through them all for each pod.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from sys import intern
from typing import Generic, NamedTuple, TypeVar

from bernstein.controllers.caches.indexes import shown, sought
from bernstein.core import pods
from bernstein.core.waiting import failed_at
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, key_of, uid_of


class Waiter(NamedTuple):
    """One that waits. Of all of a kind the keys differ: they decide the order."""

    key: Key
    failed: datetime | None
    """When it failed last, while it rests."""


class End(NamedTuple):
    """A Plan, or a Task without one, that has ended so that nothing goes on from there."""

    at: datetime
    uid: str
    name: str


T = TypeVar("T", datetime, Waiter, End)


class Ordered(Generic[T]):
    """What objects have under names, that of each name in order."""

    def __init__(self, informer: Informer, entries: Callable[[Object], Mapping[str, T]]) -> None:
        self._entries: Callable[[Object], Mapping[str, T]] = entries
        self._of: dict[str, tuple[tuple[str, T], ...]] = {}
        """By uid: the last state of one that is deleted may say another."""
        self._under: dict[str, list[T]] = {}
        informer.add_handler(self._changed)

    @property
    def is_empty(self) -> bool:
        return not self._under

    def under(self, name: str) -> Sequence[T]:
        """Those under the name, the least first; it is no copy."""
        return self._under.get(name, ())

    def _changed(self, old: Object | None, new: Object | None) -> None:
        for obj in (old, new):
            for name, entry in self._of.pop(uid_of(obj), ()) if obj is not None else ():
                under = self._under[name]
                del under[bisect_left(under, entry)]
                if not under:
                    del self._under[name]
        found = self._entries(new) if new is not None else {}
        if new is None or not found:
            return
        entries = tuple([(intern(name), entry) for name, entry in found.items()])
        self._of[uid_of(new)] = entries
        for name, entry in entries:
            insort(self._under.setdefault(name, []), entry)


class Waiters:
    """Of Tasks or of Plans those that wait."""

    def __init__(self, informer: Informer) -> None:
        self.informer = informer
        self._waiters = Ordered(informer, waits)
        self._failed = Ordered(informer, _failures)

    def those(self, name: str) -> Sequence[Waiter]:
        """Those that wait for what is called so, by their names."""
        return self._waiters.under(name)

    def failed(self, name: str) -> Sequence[datetime]:
        """When those of them that rest failed last, the earliest first."""
        return self._failed.under(name)

    @property
    def nobody_rests(self) -> bool:
        """Whether none of them has failed, and would try what a pod shows to be there."""
        return self._failed.is_empty

    def place(self, name: str, key: Key) -> int:
        """How many of them come before this one."""
        return bisect_left(self.those(name), key, key=attrgetter("key"))


def times_shown(of_pods: Informer) -> Ordered[datetime]:
    """When pods began to show what others wait for."""
    return Ordered(of_pods, shown)


def waits(obj: Object) -> Mapping[str, Waiter]:
    """For what a Task or Plan waits."""
    names = sought(obj)
    if not names:
        return {}
    waiting = obj["status"].get("waiting") or {}
    until = waiting.get("untilAlone") if "until" in waiting else None  # else it is being tried
    failed = failed_at(pods.parse_time(until)) if until is not None else None
    return dict.fromkeys(names, Waiter(key_of(obj), failed))


def _failures(obj: Object) -> Mapping[str, datetime]:
    return {name: one.failed for name, one in waits(obj).items() if one.failed is not None}
