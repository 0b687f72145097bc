"""Keeps a local cache of one resource: list, then watch, and again when the watch is lost."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing

import structlog

from bernstein.kube.backoff import Backoff
from bernstein.kube.cache import Cache, Handler, IndexFunction
from bernstein.kube.client import Client, WatchEvent
from bernstein.kube.errors import ApiError, Gone, KubeError, TooManyRequests, TransportError
from bernstein.kube.observer import NullObserver, Observer
from bernstein.kube.resource import Key, Object, Resource, resource_version_of

log = structlog.get_logger(__name__)


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
        page_size: int = 500,
        inactivity: float = 70.0,
        observer: Observer | None = None,
    ) -> None:
        self.resource = resource
        self.last_error: KubeError | None = None
        self._client = client
        self._scopes: list[str | None] = [None] if namespaces is None else [*namespaces]
        self._label_selector = label_selector
        self._field_selector = field_selector
        self._page_size = page_size
        self._inactivity = inactivity
        self._observer: Observer = observer or NullObserver()
        self._handlers: list[Handler] = []
        self._cache = Cache(indexes or {}, self._dispatch)
        # The revision up to which each scope's stream has been applied.
        self._progress: dict[str | None, int] = {}
        self._synced = asyncio.Event()
        self._streams: dict[str | None, asyncio.Task[None]] = {}
        self._started: asyncio.TaskGroup | None = None

    def add_handler(self, handler: Handler) -> None:
        """``handler(old, new)``: (None, new) added, (old, new) modified, (last, None) deleted.

        What is in the cache already is handed to it as added.
        """
        for obj in self.objects():
            handler(None, obj)
        self._handlers.append(handler)

    @property
    def has_synced(self) -> bool:
        """The first list of every namespace is in the cache."""
        return self._synced.is_set()

    async def synced(self) -> None:
        await self._synced.wait()

    def __len__(self) -> int:
        return len(self._cache)

    def get(self, key: Key) -> Object | None:
        return self._cache.get(key)

    def objects(self, namespace: str | None = None) -> list[Object]:
        return self._cache.objects(namespace)

    def by_index(self, index: str, value: str) -> list[Object]:
        return self._cache.by_index(index, value)

    def has_seen(self, key: Key, revision: int) -> bool:
        """Whether the cache holds this object's state of ``revision`` or what came after it."""
        cached = self._cache.get(key)
        if cached is not None and resource_version_of(cached) >= revision:
            return True
        scope = key.namespace if key.namespace in self._progress else None
        return self._progress.get(scope, 0) >= revision

    async def refresh(self, key: Key) -> None:
        """Reads one object now, without waiting for its event. Raises as ``Client.list``."""
        before = self._cache.get(key)
        selector = f"metadata.name={key.name}"
        found = await self._client.list(
            self.resource,
            key.namespace or None,
            label_selector=self._label_selector,
            field_selector=f"{selector},{self._field_selector}"
            if self._field_selector
            else selector,
        )
        if found.items:
            self._cache.update(found.items[0])
        elif before is not None and self._cache.get(key) is before:
            self._cache.delete(before)

    async def run(self) -> None:
        """Lists and watches until cancelled; API errors are retried for ever with back-off."""
        async with asyncio.TaskGroup() as tasks:
            self._started = tasks
            for scope in self._scopes:
                self._streams[scope] = tasks.create_task(self._follow(scope, "Started"))
            await asyncio.Event().wait()  # streams come and go

    async def catch_up(self) -> None:
        """Lists anew: the cache then holds all that was written before the call."""
        await self._synced.wait()
        assert self._started is not None
        listed = {scope: asyncio.Event() for scope in self._scopes}
        for scope, event in listed.items():
            # Its events may be older than the list, and must not come after it.
            self._streams[scope].cancel()
            await asyncio.wait([self._streams[scope]])
            follow = self._follow(scope, "CaughtUp", event)
            self._streams[scope] = self._started.create_task(follow)
        for event in listed.values():
            await event.wait()

    async def _follow(
        self, scope: str | None, reason: str, listed: asyncio.Event | None = None
    ) -> None:
        backoff = Backoff()
        while True:
            try:
                await self._relist(scope, reason)
                if listed is not None:
                    listed.set()
                await self._watch(scope, backoff)
            except Gone:
                reason = "Expired"
            except KubeError as error:
                reason = "Failed"
                self._failed(error, scope)
            await asyncio.sleep(backoff.next())

    async def _relist(self, scope: str | None, reason: str) -> None:
        listed = await self._client.list(
            self.resource,
            scope,
            label_selector=self._label_selector,
            field_selector=self._field_selector,
            limit=self._page_size,
        )
        self._cache.replace(listed.items, scope)
        self._progress[scope] = int(listed.resource_version)
        self._observer.relisted(self.resource.plural, reason)
        self.last_error = None
        if len(self._progress) == len(self._scopes):
            self._synced.set()

    async def _watch(self, scope: str | None, backoff: Backoff) -> None:
        """Watches on across ended and broken streams. Raises ApiError when a list is needed."""
        while True:
            silent = True
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
                        silent = False
            except (TransportError, TooManyRequests) as error:
                self._failed(error, scope)
            if silent:
                await asyncio.sleep(backoff.next())
            else:
                backoff.reset()

    def _apply(self, scope: str | None, event: WatchEvent) -> None:
        if event.type == "DELETED":
            self._cache.delete(event.object)
        elif event.type != "BOOKMARK":
            self._cache.update(event.object)
        self._progress[scope] = resource_version_of(event.object)

    def _dispatch(self, old: Object | None, new: Object | None) -> None:
        for handler in self._handlers:
            try:
                handler(old, new)
            except Exception:
                log.exception("informer handler failed", resource=self.resource.plural)

    def _failed(self, error: KubeError, scope: str | None) -> None:
        self.last_error = error
        log.warning(
            "list or watch failed",
            resource=self.resource.plural,
            namespace=scope or "*",
            reason=error.reason,
            status=error.status if isinstance(error, ApiError) else 0,
            message=str(error),
        )
