"""Keeps a key from being reconciled before the caches show what its last reconcile wrote."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import structlog

from bernstein.kube.clock import REAL, Clock
from bernstein.kube.informer import Informer
from bernstein.kube.resource import (
    Key,
    Object,
    Resource,
    is_deleting,
    key_of,
    resource_version_of,
    uid_of,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Write:
    """What a write led to: a ``revision``, or the deletion of the object ``uid``, or else nobody
    knows.

    ``at`` is when it was, in seconds on the guard's clock.
    """

    at: float
    revision: int = 0
    uid: str = ""
    gone: bool = False

    @property
    def uncertain(self) -> bool:
        return not self.revision and not self.uid


@dataclass(frozen=True, slots=True)
class _Said:
    """A status that was sent for the object as it was in ``revision``, and that had no answer.

    ``again`` sends the same once more. The object's revision decides which of the two is applied.
    """

    at: float
    revision: int
    again: Callable[[], Awaitable[object]]


LATE_SECONDS = 120.0
"""So long a request whose answer is lost may be on its way; API servers end their own in 60 s."""

RestsOn: TypeAlias = Callable[[Key], Iterable[tuple[Resource, Key]]]
"""The objects by whose status it is decided what is done for a reconciled key."""


class Guard:
    """Remembers the writes of each reconciled key until the informers have seen them.

    Every controller has its own. Writes to resources without an informer are not remembered. After
    ``bound`` seconds of waiting, the missing objects are read from the API server; those of which
    nobody knows whether they were written, at once.
    """

    def __init__(
        self,
        informers: Iterable[Informer],
        *,
        bound: float = 5.0,
        recheck: float = 0.1,
        clock: Clock = REAL,
    ) -> None:
        self._informers = {informer.resource: informer for informer in informers}
        self._bound = bound
        self._recheck = recheck
        self._clock = clock
        self._begun = clock.monotonic()
        self._unanswered: dict[tuple[Resource, Key], float] = {}
        self._writes: dict[Key, dict[tuple[Resource, Key], _Write]] = {}
        self._said: dict[Key, dict[tuple[Resource, Key], _Said]] = {}
        self._rests_on: RestsOn = lambda _: ()
        # How new each cache was when this process came to lead.
        self._led_from: dict[Resource, int] = {}
        self._taken_over: set[tuple[Resource, Key]] = set()

    def begin(self, rests_on: RestsOn) -> None:
        """This process leads from now on, and its caches hold all that was read by the one before.

        What the writes of a key rest on is inherited for as long as nothing has changed it.
        """
        self._rests_on = rests_on
        self._led_from = {each.resource: each.revision for each in self._informers.values()}

    def wrote(self, owner: Key, resource: Resource, obj: Object) -> None:
        """Remember a write that ``owner``'s reconcile made, and that returned ``obj``."""
        write = _Write(self._clock.monotonic(), revision=resource_version_of(obj))
        self._remember(owner, resource, key_of(obj), write)

    def deleted(
        self, owner: Key, resource: Resource, key: Key, uid: str, *, gone: bool = False
    ) -> None:
        """Remember that ``owner``'s reconcile deleted the object with this uid.

        ``gone``: it has no finalizer any more, so the cache must show that it is gone, and not just
        that it is being deleted.
        """
        self._remember(owner, resource, key, _Write(self._clock.monotonic(), uid=uid, gone=gone))

    def uncertain(self, owner: Key, resource: Resource, key: Key) -> None:
        """Remember that ``owner``'s reconcile wrote this object and was not told whether that was
        applied: only a live read can tell."""
        now = self._clock.monotonic()
        recent = {k: at for k, at in self._unanswered.items() if now - at < LATE_SECONDS}
        self._unanswered = {**recent, (resource, key): now}
        self.reread(owner, resource, key)

    def said(
        self, owner: Key, resource: Resource, obj: Object, again: Callable[[], Awaitable[object]]
    ) -> None:
        """Remember that ``owner``'s reconcile sent a status of ``obj`` and had no answer.

        ``again`` sends the same once more.
        """
        if resource not in self._informers:
            return
        now = self._clock.monotonic()
        for other, each in list(self._said.items()):
            recent = {k: said for k, said in each.items() if now - said.at < LATE_SECONDS}
            self._said[other] = recent
            if not recent:
                del self._said[other]
        said = _Said(now, resource_version_of(obj), again)
        self._said.setdefault(owner, {})[resource, key_of(obj)] = said

    def open_statuses(
        self, owner: Key
    ) -> dict[tuple[Resource, Key], Callable[[], Awaitable[object]]]:
        """What sends again the statuses that may still be applied, by their object.

        Not those whose object has changed since: the API server will not have them any more.
        """
        now = self._clock.monotonic()
        return {
            (resource, key): said.again
            for (resource, key), said in self._said.get(owner, {}).items()
            if now - said.at < LATE_SECONDS and self._shows(resource, key, said.revision)
        }

    def _shows(self, resource: Resource, key: Key, revision: int) -> bool:
        cached = self._informers[resource].get(key)
        return cached is not None and resource_version_of(cached) == revision

    def reread(self, owner: Key, resource: Resource, key: Key) -> None:
        """Have the object read live before ``owner`` is reconciled again."""
        self._remember(owner, resource, key, _Write(self._clock.monotonic()))

    def may_come_late(self, resource: Resource, key: Key) -> bool:
        """Whether a write of this object, to which nobody got an answer, may still be applied."""
        at = self._unanswered.get((resource, key))
        return at is not None and self._clock.monotonic() - at < LATE_SECONDS

    def may_come_late_in(self, resource: Resource, namespace: str) -> frozenset[str]:
        """The names of all such objects of a namespace."""
        return frozenset(
            key.name
            for kind, key in self._unanswered
            if kind == resource and key.namespace == namespace and self.may_come_late(kind, key)
        )

    @property
    def is_new(self) -> bool:
        """Whether writes of a process that led before this one may still be applied."""
        return self._clock.monotonic() - self._begun < LATE_SECONDS

    def inherited(self, owner: Key) -> list[tuple[Resource, Key]]:
        """Of what ``owner``'s writes rest on: objects to which a status may still be applied that
        the process before sent, and that had no answer.

        It names the revision that was read then, so none comes once that has changed. What was last
        changed after the process before had to be silent, cannot be that revision.
        """
        if not self.is_new:
            return []
        return [what for what in self._rests_on(owner) if self._is_inherited(*what)]

    def _is_inherited(self, resource: Resource, key: Key) -> bool:
        shown = self._informers[resource].revision_shown(key)
        known = shown is not None and shown <= self._led_from.get(resource, 0)
        return known and (resource, key) not in self._taken_over

    def took_over(self, resource: Resource, key: Key) -> None:
        """Remember that the API server has answered to a status of this process, whether that
        changed anything or not."""
        self._taken_over.add((resource, key))

    def caught_up(self, owner: Key) -> bool:
        """Whether the caches show all writes of ``owner``'s reconciles."""
        writes = self._writes.get(owner)
        if writes is None:
            return True
        for (resource, key), write in list(writes.items()):
            if _seen(self._informers[resource], key, write):
                del writes[resource, key]
        if writes:
            return False
        del self._writes[owner]
        return True

    async def settle(self, owner: Key) -> float:
        """0 when ``owner`` may be reconciled now, else the seconds until the next look.

        Reads live what became of uncertain writes, and what the caches do not show in time. Raises
        what ``Informer.refresh`` raises; then the writes stay remembered.
        """
        if self.caught_up(owner):
            return 0.0
        writes = self._writes[owner]
        late = self._clock.monotonic() - min(write.at for write in writes.values()) >= self._bound
        for (resource, key), write in list(writes.items()):
            if not late and not write.uncertain:
                continue
            if not write.uncertain:
                log.warning("cache is behind, reading live", resource=resource.plural, key=str(key))
            await self._informers[resource].refresh(key)
            # What was written while this was read is as unknown as before.
            if writes.get((resource, key)) is write:
                del writes[resource, key]
        return 0.0 if self.caught_up(owner) else self._recheck

    def _remember(self, owner: Key, resource: Resource, key: Key, write: _Write) -> None:
        if resource in self._informers:
            self._writes.setdefault(owner, {})[resource, key] = write


def _seen(informer: Informer, key: Key, write: _Write) -> bool:
    if write.uncertain:
        return False
    if write.revision:
        return informer.has_seen(key, write.revision)
    cached = informer.get(key)
    if cached is None or uid_of(cached) != write.uid:
        return True
    return is_deleting(cached) and not write.gone
