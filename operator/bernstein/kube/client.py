"""An asynchronous client of the Kubernetes API: raw dicts, typed errors, per-call timeouts."""

import copy
import io
import ssl
import time
from builtins import list as List  # noqa: N812 - the method of that name hides the type below
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

import aiohttp
import orjson

from bernstein.kube import answers
from bernstein.kube.answers import WatchEvent, documents, pages
from bernstein.kube.config import ConnectionInfo, Headers, StaticToken
from bernstein.kube.errors import Gone, TooLarge, TransportError, Unreadable
from bernstein.kube.observer import NullObserver, Observer
from bernstein.kube.resource import PODS, Object, Resource, key_of, selectors_of

T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

_LARGE = 2**20
"""Bytes of a body that is not written in one go."""
REQUESTS = 200
"""Connections for requests; those above wait, which counts against their time limit. Watches have
connections of their own, without limit: each lasts, and would keep one from the requests."""


class ObjectList(NamedTuple):
    """All items of a list and the revision at which they were read (to watch from)."""

    items: list[Object]
    resource_version: str


class Client:
    """Connections to one API server. Use ``async with``.

    Every call raises ApiError (what the server answered) or TransportError (no answer within
    ``timeout`` seconds: a write may or may not have happened).
    """

    def __init__(
        self,
        connection: ConnectionInfo,
        *,
        observer: Observer | None = None,
        timeout: float = 30.0,
        field_manager: str = "bernstein",
    ) -> None:
        self.connection = connection
        self._observer: Observer = observer or NullObserver()
        self._timeout = timeout
        self._field_manager = field_manager
        self._token = connection.token
        self._requests: aiohttp.ClientSession | None = None
        self._watches: aiohttp.ClientSession | None = None

    @property
    def namespace(self) -> str:
        return self.connection.namespace

    async def __aenter__(self) -> Self:
        connection = self.connection
        tls = connection.ssl_context() if connection.server.startswith("https:") else False
        self._requests = _pool(tls, connection.impersonation, limit=REQUESTS)
        self._watches = _pool(tls, connection.impersonation, limit=0)
        return self

    async def __aexit__(self, *exc: object) -> None:
        pools = self._requests, self._watches
        self._requests = self._watches = None
        for pool in pools:
            if pool is not None:
                await pool.close()

    def with_timeout(self, seconds: float) -> "Client":
        """A client on the same connections with another time limit per request; do not close it."""
        other = copy.copy(self)
        other._timeout = seconds  # noqa: SLF001 - a copy of this very object
        return other

    async def get(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
    ) -> Object:
        return await self._json("GET", resource, resource.path(namespace, name))

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        limit: int = 500,
    ) -> ObjectList:
        """Reads all pages; ``limit`` is the page size. ``namespace=None`` means all namespaces."""
        selectors = selectors_of(label_selector, field_selector)
        items, revision = await self.read(resource, namespace, _as_it_is, selectors, limit=limit)
        return ObjectList(items, revision)

    async def read(
        self,
        resource: Resource,
        namespace: str | None,
        take: Callable[[Object], T],
        selectors: Mapping[str, str],
        *,
        limit: int,
    ) -> tuple[List[T], str]:
        """What ``take`` makes of each item of a list, and the list's revision. Of a long list no
        more than a page is there as it came, and of a page of large items no more than one is
        parsed. ``selectors`` are parameters of the request."""
        size, token, whole = pages.Limit(limit), "", False
        items: List[T] = []
        while True:
            params = {**selectors} if whole else {**selectors, "limit": str(size.items)}
            if token:
                params["continue"] = token
            try:
                most = pages.LARGEST if whole else size.most_bytes
                page = await self._page(resource, resource.path(namespace), params, most)
            except TooLarge:
                size.too_large()
                whole = False
                continue
            except Gone:
                # The continue token is too old to be used: read everything in one answer instead.
                if not token:
                    raise
                items.clear()
                token, whole = "", True
                continue
            async for item in page.items():
                items.append(take(item))
                del item  # before the next one is parsed
            if not page.token:
                return items, page.revision
            token = page.token
            size.fitted(page.size)

    async def _page(
        self, resource: Resource, path: str, params: Mapping[str, str], most_bytes: int | None
    ) -> pages.Page:
        raw = await self._send("GET", resource.plural, path, params=params, most_bytes=most_bytes)
        return pages.Page(raw, resource)

    async def first_page(
        self,
        resource: Resource,
        namespace: str | None,
        selectors: Mapping[str, str],
        *,
        limit: int,
        most_bytes: int,
    ) -> List[Object]:
        """The first items of a list whose objects are anybody's to make, as many as he likes and as
        large. Raises TooLarge where there is more."""
        params = {**selectors, "limit": str(limit)}
        path = resource.path(namespace)
        page = await self._json("GET", resource, path, params=params, most_bytes=most_bytes)
        return answers.page_of_list(page)[0]

    async def create(
        self,
        resource: Resource,
        obj: Object,
        *,
        namespace: str | None = None,
    ) -> Object:
        """POST; the namespace defaults to the object's. Raises AlreadyExists."""
        path = resource.path(namespace or obj.get("metadata", {}).get("namespace"))
        params = {"fieldManager": self._field_manager}
        return await self._json("POST", resource, path, params=params, body=obj)

    async def patch(
        self,
        resource: Resource,
        name: str,
        namespace: str | None,
        body: Mapping[str, Any] | List[dict[str, Any]],
        *,
        subresource: str | None = None,
    ) -> Object:
        """A mapping is sent as a JSON merge patch, a list as a JSON patch."""
        return await self._json(
            "PATCH",
            resource,
            resource.path(namespace, name, subresource),
            params={"fieldManager": self._field_manager},
            body=body,
            content_type=JSON_PATCH if isinstance(body, List) else MERGE_PATCH,
        )

    async def apply(
        self,
        resource: Resource,
        obj: Object,
        *,
        field_manager: str | None = None,
        force: bool = False,
        subresource: str | None = None,
    ) -> Object:
        """Server-side apply of the fields in ``obj``. Raises Conflict when another owns one."""
        key = key_of(obj)
        return await self._json(
            "PATCH",
            resource,
            resource.path(key.namespace, key.name, subresource),
            params={
                "fieldManager": field_manager or self._field_manager,
                "force": "true" if force else "false",
            },
            body={"apiVersion": resource.api_version, "kind": resource.kind} | obj,
            content_type=APPLY_PATCH,
        )

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
        """Foreground by default: a Job deleted otherwise leaves its pods.

        Raises NotFound, and Conflict when the object of that name has another ``uid`` or
        resourceVersion (``version``).
        """
        options: dict[str, Any] = {"propagationPolicy": propagation}
        preconditions = {"uid": uid, "resourceVersion": version}
        if any(preconditions.values()):
            options["preconditions"] = {name: v for name, v in preconditions.items() if v}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        path = resource.path(namespace, name)
        await self._json("DELETE", resource, path, body=options)

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
        """A container's log, as written, with ``timestamps`` each line behind its time in RFC 3339.
        Raises ApiError 400 while it has not started.

        The API server sends the first ``limit_bytes`` of the log (of its last ``tail_lines``); of
        what it sends, only the last ``last_bytes`` are kept in memory and returned.
        """
        params: dict[str, str] = {}
        if container:
            params["container"] = container
        if tail_lines is not None:
            params["tailLines"] = str(tail_lines)
        if limit_bytes is not None:
            params["limitBytes"] = str(limit_bytes)
        if timestamps:
            params["timestamps"] = "true"
        path = PODS.path(namespace, pod, "log")
        return await self._send("GET", "pods/log", path, params=params, last_bytes=last_bytes)

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
        """Events after ``resource_version`` until the server ends the stream.

        Close it with ``contextlib.aclosing``. Raises Gone when that revision is too old, other
        ApiErrors as the server reports them, and TransportError when the stream breaks or is
        silent for ``inactivity`` seconds (bookmarks come about once a minute).
        """
        params = selectors_of(label_selector, field_selector) | {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_seconds),
        }
        limits = aiohttp.ClientTimeout(total=None, sock_connect=self._timeout, sock_read=inactivity)
        path = resource.path(namespace)
        started = time.monotonic()
        try:
            opening = self._open(self._watches, "GET", path, params=params, limits=limits)
            async with await opening as response:
                self._observed("WATCH", resource.plural, response.status, started)
                try:
                    if response.status >= 300:
                        raise await answers.refusal(response)
                    async for line in answers.lines(response):
                        yield answers.watch_event(line)
                finally:
                    answers.abort(response)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise TransportError(f"watch of {resource.plural} broke: {_cause(error)}") from error

    async def _json(
        self,
        verb: str,
        resource: Resource,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "application/json",
        most_bytes: int | None = None,
    ) -> Object:
        data = None if body is None else orjson.dumps(body)
        payload = await self._send(
            verb,
            resource.plural,
            path,
            params=params,
            data=data,
            content_type=content_type,
            most_bytes=most_bytes,
        )
        try:
            decoded: Object = documents.loads(payload)
        except ValueError as error:
            raise Unreadable(f"{verb} {path}: the answer is not JSON") from error
        return decoded

    async def _send(
        self,
        verb: str,
        label: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        data: bytes | None = None,
        content_type: str = "application/json",
        last_bytes: int | None = None,
        most_bytes: int | None = None,
    ) -> bytes:
        limits = aiohttp.ClientTimeout(total=self._timeout)
        started = time.monotonic()
        status = 0
        try:
            async with await self._open(
                self._requests,
                verb,
                path,
                params=params,
                data=data,
                content_type=content_type,
                limits=limits,
                packed=most_bytes is None,
            ) as response:
                if response.status >= 300:
                    payload = await response.read()
                elif last_bytes is None:
                    payload = await answers.body(response, most_bytes)
                else:
                    payload = await answers.last_bytes(response, last_bytes)
                status = response.status
                if status >= 300:
                    raise await answers.refusal(response)
                return payload
        except TooLarge:
            status = 200
            raise
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise TransportError(f"{verb} {path}: no answer: {_cause(error)}") from error
        finally:
            self._observed(verb, label, status, started)

    async def _open(
        self,
        pool: aiohttp.ClientSession | None,
        verb: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        data: bytes | None = None,
        content_type: str = "application/json",
        limits: aiohttp.ClientTimeout,
        packed: bool = True,
    ) -> aiohttp.ClientResponse:
        """Sends a request; a 401 is tried once more with a renewed token. ``packed``: the answer
        may be compressed, a few bytes may be thousands."""
        if pool is None:
            raise RuntimeError("the client is not open: use 'async with Client(...)'")
        headers = {"Content-Type": content_type} if data is not None else {}
        headers |= {} if packed else {"Accept-Encoding": "identity"}
        for attempt in (0, 1):
            if self._token is not None:
                token = await self._token.token(renew=attempt > 0)
                headers["Authorization"] = f"Bearer {token}"
            response = await pool.request(
                verb,
                self.connection.server + path,
                params=params,
                # What is large is written piece by piece: the loop goes on meanwhile.
                data=io.BytesIO(data) if data is not None and len(data) > _LARGE else data,
                headers=headers,
                timeout=limits,
                proxy=self.connection.proxy,
                server_hostname=self.connection.tls_server_name,
                allow_redirects=False,
            )
            renewable = self._token is not None and not isinstance(self._token, StaticToken)
            if response.status != 401 or attempt or not renewable:
                break
            response.release()
        return response

    def _observed(self, verb: str, label: str, status: int, started: float) -> None:
        self._observer.request(verb, label, status, time.monotonic() - started)


def _pool(tls: ssl.SSLContext | bool, more: Headers, *, limit: int) -> aiohttp.ClientSession:
    """Connections of which at most ``limit`` are open at once (0: any number)."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=tls, limit=limit, ttl_dns_cache=10),
        headers=(("Accept", "application/json"), ("User-Agent", "bernstein"), *more),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
    )


def _as_it_is(item: Object) -> Object:
    return item


def _cause(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
