"""Keeps a key from being reconciled on a cache that has not seen that key's own last writes."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

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
    """The ``revision`` of a create or patch, or the deletion of ``uid``; seconds at ``at``."""

    at: float
    revision: int = 0
    uid: str = ""
    gone: bool = False


class Guard:
    """Remembers the writes of each reconciled key until the informers have seen them.

    One per controller. Writes to resources without an informer are not remembered. After
    ``bound`` seconds the missing objects are read live instead of waited for.
    """

    def __init__(
        self,
        informers: Iterable[Informer],
        *,
        bound: float = 5.0,
        recheck: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._informers = {informer.resource: informer for informer in informers}
        self._bound = bound
        self._recheck = recheck
        self._clock = clock
        self._writes: dict[Key, dict[tuple[Resource, Key], _Write]] = {}

    def wrote(self, owner: Key, resource: Resource, obj: Object) -> None:
        """While reconciling ``owner`` a write returned ``obj``."""
        write = _Write(self._clock(), revision=resource_version_of(obj))
        self._remember(owner, resource, key_of(obj), write)

    def deleted(
        self, owner: Key, resource: Resource, key: Key, uid: str, *, gone: bool = False
    ) -> None:
        """While reconciling ``owner`` the object with this uid was deleted.

        ``gone``: nothing holds it any more, so its being deleted is not enough to see.
        """
        self._remember(owner, resource, key, _Write(self._clock(), uid=uid, gone=gone))

    def caught_up(self, owner: Key) -> bool:
        """Whether the caches show all that ``owner``'s reconciles have written."""
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
        """0 when ``owner`` may be reconciled now, else the seconds after which to ask again."""
        if self.caught_up(owner):
            return 0.0
        writes = self._writes[owner]
        if self._clock() - min(write.at for write in writes.values()) < self._bound:
            return self._recheck
        for resource, key in list(writes):
            log.warning("cache is behind, reading live", resource=resource.plural, key=str(key))
            await self._informers[resource].refresh(key)
        self._writes.pop(owner, None)
        return 0.0

    def _remember(self, owner: Key, resource: Resource, key: Key, write: _Write) -> None:
        if resource in self._informers:
            self._writes.setdefault(owner, {})[resource, key] = write


def _seen(informer: Informer, key: Key, write: _Write) -> bool:
    if not write.uid:
        return informer.has_seen(key, write.revision)
    cached = informer.get(key)
    if cached is None or uid_of(cached) != write.uid:
        return True
    return is_deleting(cached) and not write.gone
