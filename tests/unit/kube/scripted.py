"""An API server whose every answer and event arrives exactly when a test says so."""

import asyncio
import contextlib
from builtins import list as List  # noqa: N812 - the method of that name hides the type below
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import NamedTuple, TypeVar, cast

from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, Resource

T = TypeVar("T")
State = tuple[str, int] | None
"""uid and revision of an object, None where there is none."""


class Change(NamedTuple):
    revision: int
    key: Key
    event: str
    obj: Object


class ScriptedServer:
    """Reads happen when they are asked for; what they found arrives with ``answer``, and events
    with ``deliver``."""

    def __init__(self) -> None:
        self.revision = 100
        self.history: list[Change] = []
        self.pending: list[asyncio.Event] = []
        self.told: dict[str | None, int] = {}
        self._objects: dict[Key, Object] = {}
        self._streams: dict[str | None, asyncio.Queue[WatchEvent]] = {}

    # What tests command.

    def put(self, name: str, namespace: str = "a") -> None:
        """Makes an object, or changes the one that is there."""
        key = Key(namespace, name)
        old = self._objects.get(key)
        self.revision += 1
        uid = old["metadata"]["uid"] if old else f"{name}-{self.revision}"
        obj = _object(key, uid, self.revision)
        self._objects[key] = obj
        self.history.append(Change(self.revision, key, "MODIFIED" if old else "ADDED", obj))

    def remove(self, name: str, namespace: str = "a") -> None:
        key = Key(namespace, name)
        old = self._objects.pop(key, None)
        if old is None:
            return
        self.revision += 1
        last = _object(key, old["metadata"]["uid"], self.revision)
        self.history.append(Change(self.revision, key, "DELETED", last))

    def set_back(self, revision: int) -> None:
        """Restores what there was at this revision, from which the store goes on to count."""
        self.revision = revision
        self.history = [change for change in self.history if change.revision <= revision]
        last = {change.key: change for change in self.history}
        self._objects = {k: c.obj for k, c in last.items() if c.event != "DELETED"}

    async def answer(self, number: int = 0) -> None:
        """Lets the answer of a list that was asked for arrive; numbers count those that wait."""
        if self.pending:
            self.pending.pop(number % len(self.pending)).set()
        await settled()

    async def deliver(self, scope: str | None = None, *, all_of_it: bool = False) -> None:
        """Lets the next event arrive, or else a bookmark."""
        stream = self._streams.get(scope)
        if stream is None:
            return
        while change := self._next(scope):
            self.told[scope] = change.revision
            stream.put_nowait(WatchEvent(change.event, change.obj))
            await settled()
            if not all_of_it:
                return
        self.told[scope] = self.revision
        bookmark = {"metadata": {"resourceVersion": str(self.revision)}}
        stream.put_nowait(WatchEvent("BOOKMARK", bookmark))
        await settled()

    def states(self, key: Key) -> list[tuple[int, State]]:
        """All that this key has ever been, each from a revision on."""
        found: list[tuple[int, State]] = [(0, None)]
        for change in self.history:
            if change.key == key:
                there = change.event != "DELETED"
                found.append((change.revision, state_of(change.obj) if there else None))
        return found

    # What the informer asks.

    @property
    def client(self) -> Client:
        return cast("Client", self)

    async def list(
        self,
        resource: Resource,  # noqa: ARG002
        namespace: str | None = None,
        *,
        label_selector: str | None = None,  # noqa: ARG002
        field_selector: str | None = None,
    ) -> ObjectList:
        name = field_selector.removeprefix("metadata.name=") if field_selector else None
        items = [
            _object(key, *(state_of(obj) or ("", 0)))
            for key, obj in self._objects.items()
            if namespace in (None, key.namespace) and name in (None, key.name)
        ]
        listed = ObjectList(items, str(self.revision))
        due = asyncio.Event()
        self.pending.append(due)
        try:
            await due.wait()
        finally:
            if due in self.pending:  # whoever asked was cancelled
                self.pending.remove(due)
        return listed

    async def read(
        self,
        resource: Resource,
        namespace: str | None,
        take: Callable[[Object], T],
        selectors: Mapping[str, str],
        *,
        limit: int,
    ) -> tuple[List[T], str]:
        del selectors, limit
        listed = await self.list(resource, namespace)
        return [take(obj) for obj in listed.items], listed.resource_version

    async def watch(
        self, resource: Resource, namespace: str | None = None, **options: object
    ) -> AsyncGenerator[WatchEvent, None]:
        del resource
        stream: asyncio.Queue[WatchEvent] = asyncio.Queue()
        self._streams[namespace] = stream
        self.told[namespace] = int(str(options["resource_version"]))
        try:
            while True:
                yield await stream.get()
        finally:
            del self._streams[namespace]

    def _next(self, scope: str | None) -> Change | None:
        for change in self.history:
            if change.revision > self.told[scope] and scope in (None, change.key.namespace):
                return change
        return None


def _object(key: Key, uid: str, revision: int) -> Object:
    metadata = {"name": key.name, "namespace": key.namespace, "uid": uid}
    return {"metadata": {**metadata, "resourceVersion": str(revision)}}


def state_of(obj: Object | None) -> State:
    if obj is None:
        return None
    return obj["metadata"]["uid"], int(obj["metadata"]["resourceVersion"])


async def settled() -> None:
    """Lets every task run until it waits for the script: none needs more turns than this."""
    for _ in range(12):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def following(
    server: ScriptedServer, informer: Informer, *, first: bool = True
) -> AsyncIterator[None]:
    """Runs the informer; ``first``: its first lists have been answered."""
    running = asyncio.ensure_future(informer.run())
    await settled()
    while first and not informer.has_synced:
        await server.answer()
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
