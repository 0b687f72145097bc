"""What the schedule has written and got no answer to: it may still be applied.

A webhook of somebody's may fail at one object for ever. That one is tried again later and later,
and what it may have by then is kept for it; all others are written as if it had it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bernstein.api.plan import PlanStatus
from bernstein.api.task import TaskStatus
from bernstein.kube.clock import Clock
from bernstein.kube.guard import LATE_SECONDS
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, Resource, key_of, resource_version_of

FIRST_SECONDS = 1.0
LAST_SECONDS = LATE_SECONDS + 30.0
"""Pauses double from the first to the last. That one is longer than an answer may be late: what is
written then is decided anew, by who needs it most at that time."""

_What = tuple[Resource, Key]


@dataclass(frozen=True, slots=True)
class _Sent:
    revision: int
    status: TaskStatus | PlanStatus
    at: float
    """In seconds of the monotonic clock."""
    pause: float

    @property
    def until(self) -> float:
        """It is not sent again before."""
        return self.at + self.pause


class Unanswered:
    """Of one Project. What has changed since is not waited for: it is of the past by then."""

    def __init__(self, informers: Mapping[Resource, Informer], clock: Clock) -> None:
        self._informers, self._clock = informers, clock
        self._sent: dict[_What, _Sent] = {}

    def note(
        self,
        resource: Resource,
        obj: Object,
        status: TaskStatus | PlanStatus,
        at_least: float = 0.0,
    ) -> bool:
        """It was sent just now, of the object as it was read, and had no answer. Whether that is so
        for the second time at least.

        ``at_least``: seconds that the server asks to wait.
        """
        what = resource, key_of(obj)
        before = self._sent.get(what)
        pause = FIRST_SECONDS if before is None else min(2 * before.pause, LAST_SECONDS)
        pause = max(pause, at_least)
        now = self._clock.monotonic()
        self._sent[what] = _Sent(resource_version_of(obj), status, now, pause)
        return before is not None

    def answered(self, resource: Resource, key: Key) -> None:
        self._sent.pop((resource, key), None)

    def waits(self, resource: Resource, key: Key) -> bool:
        """Whether it is too early to send it anything."""
        sent = self._sent.get((resource, key))
        return sent is not None and self._clock.monotonic() < sent.until

    def tasks(self) -> dict[str, TaskStatus]:
        """Statuses of Tasks that may still be applied, by name."""
        return {
            key.name: sent.status
            for (_, key), sent in self._open()
            if isinstance(sent.status, TaskStatus)
        }

    def again(self) -> float | None:
        """In so many seconds the next one is to be sent; None: there is none."""
        self._forget_changed()
        now = self._clock.monotonic()
        return min((max(0.0, sent.until - now) for sent in self._sent.values()), default=None)

    def _open(self) -> Iterator[tuple[_What, _Sent]]:
        self._forget_changed()
        now = self._clock.monotonic()
        return ((w, sent) for w, sent in self._sent.items() if now - sent.at < LATE_SECONDS)

    def _forget_changed(self) -> None:
        for (resource, key), sent in list(self._sent.items()):
            if self._informers[resource].revision_shown(key) != sent.revision:
                del self._sent[resource, key]
