"""Keeps a local cache of one resource: list, then watch, and again when the watch is lost."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from bernstein.kube.answers import WatchEvent
from bernstein.kube.backoff import Backoff
from bernstein.kube.cache import (
    OPENED,
    Cache,
    Handler,
    IndexFunction,
    Packed,
    Read,
    Settled,
    Strip,
    revision_of,
)
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import (
    ApiError,
    Gone,
    KubeError,
    OldList,
    Overloaded,
    TransportError,
    Unreadable,
    seconds_asked,
)
from bernstein.kube.observer import NullObserver, Observer
from bernstein.kube.resource import Key, Object, Resource, key_of, resource_version_of, selectors_of

log = structlog.get_logger(__name__)


OLD_LISTS = 5
"""So often in a row a list may be older than what was seen, until it is taken all the same: then it
is no cache that lags, but a store that was set back."""
PAGE = 250
"""Items of a list that are read and parsed in one step of the loop."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A complete list of one scope."""

    revision: int
    objects: Mapping[Key, Object | Packed]

    def revision_of(self, key: Key) -> int:
        return revision_of(self.objects[key])


class Informer:
    """A cache of the objects that match the selectors, in the given namespaces or in all.

    A list is compared with the cache, so that handlers also see what was deleted while the watch
    was away. Handlers run synchronously in the order of events and must not block.
    """

    def __init__(
        self,
        client: Client,
        resource: Resource,
        *,
        namespaces: Sequence[str] | None = None,
        label_selector: str | None = None,
        field_selector: str | None = None,
        indexes: Mapping[str, IndexFunction] | None = None,
        read: Read | None = None,
        strip: Strip | None = None,
        settled: Settled | None = None,
        opened: int = OPENED,
        page_size: int = PAGE,
        inactivity: float = 70.0,
        observer: Observer | None = None,
        clock: Clock = REAL,
    ) -> None:
        self.resource = resource
        self.opened = opened
        """So many settled objects stay unpacked, those that were read last."""
        self.last_error: KubeError | None = None
        self._client = client
        self._scopes: list[str | None] = (
            [None] if namespaces is None else [*dict.fromkeys(namespaces)]
        )
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._page_size = page_size
        self._inactivity = inactivity
        self._observer: Observer = observer or NullObserver()
        self._clock = clock
        self._handlers: list[Handler] = []
        self._cache = Cache(
            indexes or {}, self._dispatch, read, strip=strip, settled=settled, opened=opened
        )
        # The revision up to which each scope's stream has been applied.
        self._progress: dict[str | None, int] = {}
        # Where the cache is ahead of the stream: the revision at which a key was read live.
        self._ahead: dict[Key, int] = {}
        # How many lists in a row were older than what was seen.
        self._old_lists: dict[str | None, int] = {}
        # When the request for each scope's last complete list was sent.
        self._listed_at: dict[str | None, float] = {}
        # What each scope's stream is about to show, one key after another.
        self._listed: dict[str | None, _Listed] = {}
        self._synced = asyncio.Event()
        self._streams: dict[str | None, asyncio.Task[None]] = {}
        self._catching_up: defaultdict[str | None, list[asyncio.Event]] = defaultdict(list)
        self._started: asyncio.TaskGroup | None = None

    def add_handler(self, handler: Handler) -> None:
        """Calls ``handler(old, new)`` for every change from now on, and for every object in the
        cache as if it had just been added, by their keys; but for those that are settled, which are
        many and concern nobody.

        (None, new): added. (old, new): modified. (last, None): deleted, with its last state.
        """
        for obj in sorted(self._cache.going(), key=key_of):
            self._call(handler, None, obj)
        self._handlers.append(handler)

    @property
    def has_synced(self) -> bool:
        """The first list of every namespace is in the cache."""
        return self._synced.is_set()

    async def synced(self) -> None:
        """Waits until the first list of every namespace is in the cache."""
        await self._synced.wait()

    def __len__(self) -> int:
        return len(self._cache)

    def get(self, key: Key) -> Object | None:
        return self._cache.get(key)

    def objects(self, namespace: str | None = None) -> list[Object]:
        return self._cache.objects(namespace)

    def going(self) -> list[Object]:
        """All objects that are not settled."""
        return self._cache.going()

    def by_index(self, index: str, value: str) -> list[Object]:
        return self._cache.by_index(index, value)

    def keys(self, namespace: str | None = None) -> list[Key]:
        """Of all objects; none of them is unpacked for it."""
        return self._cache.keys(namespace)

    def index_keys(self, index: str, value: str) -> list[Key]:
        """Those of ``by_index``; none of them is unpacked for it."""
        return self._cache.index_keys(index, value)

    def settled_keys(self) -> list[Key]:
        """Of all objects that are settled."""
        return self._cache.settled_keys()

    def is_settled(self, key: Key) -> bool:
        """Whether the object is there, and kept packed."""
        return self._cache.is_settled(key)

    def reconsider(self, key: Key) -> bool:
        """Whether the object is settled is asked anew; whether that has changed. No handler hears
        of it."""
        return self._cache.reconsider(key)

    @property
    def revision(self) -> int:
        """How new the cache is; where it has several namespaces, the newest of them."""
        return max(self._progress.values(), default=0)

    def revision_shown(self, key: Key) -> int | None:
        """Of the object in the cache; it is not unpacked for it."""
        return self._cache.revision_shown(key)

    def uid_shown(self, key: Key) -> str | None:
        """Of the object in the cache; it is not unpacked for it."""
        return self._cache.uid_shown(key)

    def has_seen(self, key: Key, revision: int) -> bool:
        """Whether the cache holds this object's state of ``revision`` or a later one."""
        cached = self._cache.revision_shown(key)
        if cached is not None and cached >= revision:
            return True
        return self._shown(key) >= revision

    async def refresh(self, key: Key) -> None:
        """Reads one object into the cache now, instead of waiting for its event.

        An object outside of the informer's namespaces is left out. Raises what ``Client.list``
        raises.
        """
        if self._scope_of(key) not in self._scopes:
            return
        selectors = [f"metadata.name={key.name}"]
        if self._field_selector:
            selectors.append(self._field_selector)
        listed = await self._client.list(
            self.resource,
            key.namespace or None,
            label_selector=self._label_selector,
            field_selector=",".join(selectors),
        )
        self._show(key, listed.items[0] if listed.items else None, int(listed.resource_version))

    def take(self, listed: ObjectList) -> None:
        """Shows what somebody else has read live, where the cache does not show anything newer.

        What is not in that list stays as it is. Whoever decides by such a list and by the cache
        afterwards would else see things go backwards.
        """
        for obj in listed.items:
            if self._scope_of(key_of(obj)) in self._scopes:
                self._show(key_of(obj), obj, int(listed.resource_version))

    def _show(self, key: Key, obj: Object | None, revision: int) -> None:
        """Shows a key as a live read of this revision has found it; None: there was no object."""
        coming = self._listed.get(self._scope_of(key))
        if coming is not None and revision <= coming.revision:
            self._place(key, coming)  # it says the same of the key, or something newer
            return
        if revision <= self._shown(key):
            return  # while the answer was on its way, something newer came
        self._ahead[key] = revision
        cached = self._cache.get(key)
        if obj is not None:
            self._cache.update(obj)
        elif cached is not None:
            self._cache.delete(cached)

    async def run(self) -> None:
        """Lists and watches until cancelled; API errors are retried for ever with back-off."""
        async with asyncio.TaskGroup() as tasks:
            self._started = tasks
            for scope in self._scopes:
                self._streams[scope] = tasks.create_task(self._follow(scope, "Started"))
            await asyncio.Event().wait()  # streams come and go

    async def catch_up(self, since: float = math.inf) -> None:
        """Lists everything again that was not listed ``since``, in seconds of the clock, so that
        the cache holds all that was written before; without it, before the call."""
        await self._synced.wait()
        assert self._started is not None
        listed = []
        for scope in self._scopes:
            if self._listed_at[scope] >= since:
                continue
            before = self._streams[scope]
            before.cancel()
            follow = self._follow(scope, "CaughtUp", after=before)
            self._streams[scope] = self._started.create_task(follow)
            listed.append(asyncio.Event())
            self._catching_up[scope].append(listed[-1])
        for event in listed:
            await event.wait()

    async def _follow(
        self, scope: str | None, reason: str, after: asyncio.Task[None] | None = None
    ) -> None:
        if after is not None:
            # Events of the old stream may be older than the new list, and must not come after it.
            await asyncio.wait([after])
        backoff = Backoff(clock=self._clock)
        while True:
            at_least = 0.0
            try:
                await self._relist(scope, reason)
                await self._watch(scope, backoff)
            except Gone:
                reason = "Expired"
            except KubeError as error:
                reason = "Failed"
                at_least = self._failed(error, scope)
            await self._clock.sleep(max(backoff.next(), at_least))

    async def _relist(self, scope: str | None, reason: str) -> None:
        sent, seen = self._clock.monotonic(), self._seen(scope)
        items, at = await self._client.read(
            self.resource,
            scope,
            self._taken,
            selectors_of(self._label_selector, self._field_selector),
            limit=self._page_size,
        )
        revision = int(at)
        self._check_age(scope, revision, seen)
        await self._replace(scope, _Listed(revision, dict(items)))
        self._progress[scope], self._listed_at[scope] = revision, sent
        self._forget_passed()
        self._observer.relisted(self.resource.plural, reason)
        self.last_error = None
        if len(self._progress) == len(self._scopes):
            self._synced.set()
        for caught_up in self._catching_up.pop(scope, ()):
            caught_up.set()

    def _seen(self, scope: str | None) -> int:
        """The newest revision that the API server has shown of the scope, in whatever way."""
        read_live = (at for key, at in self._ahead.items() if self._scope_of(key) == scope)
        return max(self._progress.get(scope, 0), *read_live, 0)

    def _check_age(self, scope: str | None, revision: int, seen: int) -> None:
        """Raises OldList where a server shows what was before what it had shown when it was asked:
        deleted objects would be back, and new ones gone.

        Of a store that was set back no live read from before counts any more.
        """
        old = self._old_lists.get(scope, 0)
        if revision < seen and old < OLD_LISTS:
            self._old_lists[scope] = old + 1
            raise OldList(f"a list of revision {revision} is older than what was seen, {seen}")
        self._old_lists.pop(scope, None)
        if revision < seen:
            self._ahead = {
                key: at for key, at in self._ahead.items() if self._scope_of(key) != scope
            }

    def _taken(self, obj: Object) -> tuple[Key, Object | Packed]:
        return key_of(obj), self._cache.taken(obj)

    async def _replace(self, scope: str | None, listed: _Listed) -> None:
        """Makes the cache equal to a list, one object in a step of the loop: somebody parses each,
        and there may be thousands.

        What is gone comes first, then what has changed, in the order of a watch.
        """
        gone = [key for key in self._cache.keys(scope) if key not in listed.objects]
        self._listed[scope] = listed
        try:
            for key in (*gone, *sorted(listed.objects, key=listed.revision_of)):
                if self._place(key, listed):
                    await self._clock.sleep(0)
        finally:
            del self._listed[scope]

    def _place(self, key: Key, listed: _Listed) -> bool:
        """Shows the key as it was listed, unless a live read was later; whether that is a change.

        From then on it is as new as the list, whose other keys may still be to come.
        """
        if self._ahead.get(key, 0) > listed.revision:
            return False
        self._ahead[key] = listed.revision
        return self._cache.place(key, listed.objects.get(key))

    async def _watch(self, scope: str | None, backoff: Backoff) -> None:
        """Watches, and again when a stream ends or breaks. Raises ApiError, or Unreadable, when a
        new list is needed."""
        while True:
            silent, at_least = True, 0.0
            try:
                stream = self._client.watch(
                    self.resource,
                    scope,
                    resource_version=str(self._progress[scope]),
                    label_selector=self._label_selector,
                    field_selector=self._field_selector,
                    inactivity=self._inactivity,
                )
                async with aclosing(stream) as events:
                    async for event in events:
                        self._apply(scope, event)
                        silent, self.last_error = False, None
            except Unreadable:
                raise  # it would come again and again at this revision; a list goes past it
            except (TransportError, Overloaded) as error:
                at_least = self._failed(error, scope)
            if not silent:
                backoff.reset()
            if silent or at_least:
                await self._clock.sleep(max(backoff.next(), at_least))

    def _apply(self, scope: str | None, event: WatchEvent) -> None:
        obj, revision = event.object, resource_version_of(event.object)
        self._progress[scope] = revision
        if event.type == "BOOKMARK":
            self._forget_passed()
        elif self._ahead and revision <= self._ahead.get(key_of(obj), 0):
            pass  # the cache shows what became of it later
        elif event.type == "DELETED":
            self._cache.delete(obj)
        else:
            self._cache.update(obj)

    def _scope_of(self, key: Key) -> str | None:
        return None if None in self._scopes else key.namespace

    def _shown(self, key: Key) -> int:
        """The revision as of which, or later, the cache shows this key."""
        return max(self._progress.get(self._scope_of(key), 0), self._ahead.get(key, 0))

    def _forget_passed(self) -> None:
        """Drops the revisions of live reads that the streams have passed since."""
        if self._ahead:
            progress = self._progress
            self._ahead = {
                key: read_at
                for key, read_at in self._ahead.items()
                if read_at > progress.get(self._scope_of(key), 0)
            }

    def _dispatch(self, old: Object | None, new: Object | None) -> None:
        for handler in self._handlers:
            self._call(handler, old, new)

    def _call(self, handler: Handler, old: Object | None, new: Object | None) -> None:
        try:
            handler(old, new)
        except Exception:
            log.exception("informer handler failed", resource=self.resource.plural)

    def _failed(self, error: KubeError, scope: str | None) -> float:
        """Notes the error; returns how long the server asks to wait, in seconds."""
        self.last_error = error
        log.warning(
            "list or watch failed",
            resource=self.resource.plural,
            namespace=scope or "*",
            reason=error.reason,
            status=error.status if isinstance(error, ApiError) else 0,
            message=str(error),
        )
        return seconds_asked(error)
