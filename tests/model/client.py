"""The operator's client, as the rest of the operator knows it, on the store in memory.

Between the two is all that a network and a busy API server do to a request.
"""

from __future__ import annotations

import asyncio
import copy as copies
from builtins import list as List  # noqa: N812 - the method of that name hides the type below
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, NoReturn, Protocol, TypeVar

from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client
from bernstein.kube.errors import ApiError, Gone, TransportError, api_error
from bernstein.kube.resource import EVENTS, Key, Object, Resource, key_of
from tests.model.cluster.store import NAMESPACE, Store, copy, refused, selected

T = TypeVar("T")
BOOKMARK_SECONDS = 55.0
_REFUSALS: Mapping[str, Callable[[int], ApiError]] = {
    "error": lambda _: api_error(500, {"message": "etcdserver: request timed out"}),
    "busy": lambda seconds: api_error(429, {}, retry_after=str(seconds)),
    "conflict": lambda _: refused(409, "Conflict", "the object has been modified"),
    "forbidden": lambda _: refused(403, "Forbidden", "exceeded quota"),
}
"""What a server answers that has applied nothing."""


class Trouble(Protocol):
    """What goes wrong, and when; asked for every request and every event of a watch."""

    def of_request(
        self, replica: int, verb: str, resource: Resource, body: object
    ) -> dict[str, Any] | None: ...
    def held_back(self, replica: int, resource: Resource) -> float:
        """Until when a watch shows nothing of this kind, in seconds of the loop."""

    def breaks(self, replica: int, resource: Resource, opened: float) -> str | None:
        """How a watch that was opened then ends now: `gone`, `broken`; None: it does not."""

    def doubles(self, resource: Resource) -> bool:
        """Whether events come twice now."""


class Process:
    """What client and chaos must know of an operator's process."""

    def __init__(self, number: int, life: int) -> None:
        self.number = number
        self.life = life
        self.dead = False
        self.cut_off_until = 0.0
        self.die: Callable[[], None] = lambda: None


class ModelClient(Client):
    """Has the public methods of Client, each with the same meaning."""

    def __init__(self, store: Store, trouble: Trouble, process: Process, seed: int) -> None:
        self._store = store
        self._trouble = trouble
        self._process = process
        self._timeout = 30.0
        self._random = Random(f"{seed}/{process.number}/{process.life}")

    @property
    def namespace(self) -> str:
        return NAMESPACE

    def with_timeout(self, seconds: float) -> Client:
        other = copies.copy(self)
        other._timeout = seconds
        return other

    # --- requests ---------------------------------------------------------------------------------

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Object:
        key = Key(namespace or NAMESPACE, name)
        return await self._request("GET", resource, lambda: self._store.get(resource, key))

    async def read(
        self,
        resource: Resource,
        namespace: str | None,
        take: Callable[[Object], T],
        selectors: Mapping[str, str],
        *,
        limit: int,
    ) -> tuple[List[T], str]:
        labels, fields = selectors.get("labelSelector"), selectors.get("fieldSelector")

        def read() -> tuple[List[Object], str]:
            return self._store.matching(resource, labels, fields), str(self._store.revision)

        found, revision = await self._request("LIST", resource, read)
        taken: List[T] = []
        for number, obj in enumerate(found, 1):
            taken.append(take(obj))
            if not number % limit:
                await asyncio.sleep(0)  # the next page
        return taken, revision

    async def first_page(
        self,
        resource: Resource,
        namespace: str | None,
        selectors: Mapping[str, str],
        *,
        limit: int,
        most_bytes: int,
    ) -> List[Object]:
        items, _ = await self.read(resource, namespace, lambda obj: obj, selectors, limit=limit)
        return items[:limit]

    async def create(
        self, resource: Resource, obj: Object, *, namespace: str | None = None
    ) -> Object:
        if resource == EVENTS:
            return await self._request("POST", resource, lambda: obj)
        made = copy(obj)
        if namespace is not None:
            made["metadata"]["namespace"] = namespace
        write = partial(self._store.create, resource, made)
        return await self._request("POST", resource, write, made)

    async def patch(
        self,
        resource: Resource,
        name: str,
        namespace: str | None,
        body: Mapping[str, Any] | List[dict[str, Any]],
        *,
        subresource: str | None = None,
    ) -> Object:
        key, sent = Key(namespace or NAMESPACE, name), copies.deepcopy(body)

        def write() -> Object:
            if resource == EVENTS:
                return {}
            if isinstance(sent, List):
                return self._store.edit(resource, key, sent, subresource)
            return self._store.merge(resource, key, copy(dict(sent)), subresource)

        return await self._request("PATCH", resource, write, body)

    async def apply(
        self,
        resource: Resource,
        obj: Object,
        *,
        field_manager: str | None = None,
        force: bool = False,
        subresource: str | None = None,
    ) -> Object:
        key, sent = key_of(obj), copy(obj)

        def write() -> Object:
            if self._store.find(resource, key) is None:
                return self._store.create(resource, sent)
            return self._store.merge(resource, key, sent, subresource)

        return await self._request("PATCH", resource, write)

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        propagation: str = "Foreground",
        uid: str | None = None,
        version: str | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        key = Key(namespace or NAMESPACE, name)

        def write() -> None:
            self._store.delete(
                resource,
                key,
                propagation=propagation,
                uid=uid,
                version=version,
                grace_seconds=grace_seconds,
            )

        await self._request("DELETE", resource, write)

    async def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str | None = None,
        tail_lines: int | None = None,
        limit_bytes: int | None = None,
        last_bytes: int | None = None,
        timestamps: bool = False,
    ) -> bytes:
        return await self._request("LOG", EVENTS, lambda: b"what it printed")

    async def _request(
        self, verb: str, resource: Resource, apply: Callable[[], T], body: object = None
    ) -> T:
        self._reached(verb)
        await asyncio.sleep(self._random.uniform(0.0005, 0.02))
        self._reached(verb)
        fault = self._trouble.of_request(self._process.number, verb, resource, body)
        if fault is None:
            return await self._answered(apply)
        return await self._faulty(fault, verb, apply)

    async def _answered(self, apply: Callable[[], T]) -> T:
        """The server's answer; an error takes its way, too."""
        try:
            answer = apply()
        except ApiError as error:
            await asyncio.sleep(self._random.uniform(0.0005, 0.02))
            raise error from None
        await asyncio.sleep(self._random.uniform(0.0005, 0.02))
        return answer

    async def _faulty(self, fault: dict[str, Any], verb: str, apply: Callable[[], T]) -> T:
        what, seconds = fault["what"], float(fault.get("seconds", 0.0))
        if what in _REFUSALS:
            raise _REFUSALS[what](int(seconds))
        if what == "late":
            loop = asyncio.get_running_loop()
            loop.call_later(self._timeout + seconds, self._quietly, apply)
        elif what in ("timeout", "error_after", "crash_after"):
            self._quietly(apply)
        elif what == "slow":
            answer = apply()
            await asyncio.sleep(min(seconds, self._timeout))
            if seconds < self._timeout:
                return answer
        elif what == "none":  # what follows on it is meant
            return await self._answered(apply)
        if what == "error_after":
            raise api_error(500, {"message": "etcdserver: leader changed"})
        if what.startswith("crash"):
            self._process.die()
            await asyncio.Event().wait()
        return await self._unanswered(verb)

    async def _unanswered(self, verb: str) -> NoReturn:
        await asyncio.sleep(self._timeout)
        raise TransportError(f"{verb}: no answer")

    @staticmethod
    def _quietly(apply: Callable[[], object]) -> None:
        with suppress(ApiError):
            apply()

    def _reached(self, verb: str) -> None:
        if self._process.dead:
            raise TransportError(f"{verb}: the process is gone")
        if self._store.seconds < self._process.cut_off_until:
            raise TransportError(f"{verb}: no route to host")

    # --- watches ----------------------------------------------------------------------------------

    def _still_open(self, resource: Resource, position: int, opened: float) -> None:
        self._reached("WATCH")
        how = self._trouble.breaks(self._process.number, resource, opened)
        if how == "gone" or position < self._store.floor[resource]:
            raise Gone(410, "Expired", "too old resource version")
        if how == "broken":
            raise TransportError(f"watch of {resource.plural} broke")

    async def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        resource_version: str,
        label_selector: str | None = None,
        field_selector: str | None = None,
        timeout_seconds: int = 300,
        inactivity: float = 70.0,
    ) -> AsyncGenerator[WatchEvent, None]:
        store, number = self._store, self._process.number
        self._reached("WATCH")
        await asyncio.sleep(self._random.uniform(0.0005, 0.02))
        position = int(resource_version)
        opened = heard = store.seconds
        lag = self._random.uniform(0.0, 0.05)
        while True:
            now = store.seconds
            self._still_open(resource, position, opened)
            if now < (shown_from := self._trouble.held_back(number, resource)):
                if now - heard > inactivity:
                    raise TransportError(f"watch of {resource.plural} is silent")
                await asyncio.sleep(min(shown_from - now, 5.0))
                continue
            changes = store.since(resource, position)
            if not changes:
                if now - opened >= timeout_seconds:
                    return
                if now - heard >= BOOKMARK_SECONDS:
                    heard, position = now, store.revision
                    meta = {"resourceVersion": str(position)}
                    yield WatchEvent("BOOKMARK", {"metadata": meta})
                    continue
                await store.news(resource, BOOKMARK_SECONDS - (now - heard) + 0.001)
                await asyncio.sleep(lag)
                continue
            heard = now
            change = changes[0]
            position = change.revision
            if selected(change.object, label_selector, field_selector):
                for _ in range(2 if self._trouble.doubles(resource) else 1):
                    yield WatchEvent(change.type, copy(change.object))
