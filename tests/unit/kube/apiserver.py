"""A small API server over real HTTP whose faults can be commanded.

It keeps revisions, pages, watch histories, finalizers and preconditions as the real one does, and
beside that drops connections, stalls or breaks watches and forgets its history on demand.
"""

import asyncio
import copy
import re
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, NamedTuple, Self

import orjson
from aiohttp import web

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.resource import Object, Resource

WIDGETS = Resource("example.com", "v1", "widgets", "Widget")

PATH = re.compile(
    r"^/(?:api|apis/(?P<group>[^/]+))/(?P<version>v[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+))?/(?P<plural>[^/]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<subresource>[^/]+))?$"
)

Fault = Literal["drop-before", "drop-after", "fail-after", "hang"] | int


class Change(NamedTuple):
    revision: int
    plural: str
    old: Object | None
    new: Object | None


class Call(NamedTuple):
    verb: str
    plural: str
    name: str
    query: dict[str, str]
    body: Any
    authorization: str


class RefusalError(Exception):
    def __init__(self, status: int, reason: str, message: str = "", **details: object) -> None:
        super().__init__(message)
        self.status = status
        self.body = {
            "kind": "Status",
            "status": "Failure",
            "code": status,
            "reason": reason,
            "message": message or reason,
            "details": details,
        }


class ApiServer:
    def __init__(self) -> None:
        self.url = ""
        self.calls: list[Call] = []
        self.fault: Callable[[Call], Fault | None] = lambda _: None
        self.connections: Callable[[], int] = lambda: 0
        self.instead: Callable[[Call], bytes | None] = lambda _: None
        """What is answered with status 200 in place of the truth."""
        self.bookmark_every = 0.05
        self.silent_watches = False
        self._objects: dict[tuple[str, str, str], Object] = {}
        self._revision = 100
        self._floor = 0
        self._history: list[Change] = []
        self._snapshots: dict[str, list[Object]] = {}
        self._changed = asyncio.Event()
        self._stalled = False
        self._generation = 0

    @classmethod
    @asynccontextmanager
    async def running(cls) -> AsyncIterator[Self]:
        server = cls()
        app = web.Application(client_max_size=4 << 20)
        app.router.add_route("*", "/{tail:.*}", server._handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.connections = lambda: len(runner.server.connections) if runner.server else 0
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield server
        finally:
            server.break_watches()
            await runner.cleanup()

    def client(self, **options: Any) -> Client:
        return Client(ConnectionInfo(server=self.url), **options)

    # What tests look at and command.

    def get(self, resource: Resource, name: str, namespace: str = "default") -> Object:
        return copy.deepcopy(self._objects[resource.plural, namespace, name])

    def names(self, resource: Resource) -> list[str]:
        return [name for plural, _, name in self._objects if plural == resource.plural]

    def writes(self, *, but: tuple[str, ...] = ()) -> list[Call]:
        return [call for call in self.calls if call.verb != "GET" and call.plural not in but]

    def count(self, verb: str, plural: str) -> int:
        return sum(
            call.verb == verb and call.plural == plural and "watch" not in call.query
            for call in self.calls
        )

    def watches(self, plural: str) -> int:
        return sum(call.plural == plural and "watch" in call.query for call in self.calls)

    def put(
        self, resource: Resource, name: str, namespace: str = "default", **fields: Any
    ) -> Object:
        """Creates or changes an object as somebody else would."""
        old = self._objects.get((resource.plural, namespace, name))
        obj: Object = copy.deepcopy(old) if old else _new(resource, namespace, name)
        metadata = fields.pop("metadata", {})
        obj.update(copy.deepcopy(fields))
        obj["metadata"] |= copy.deepcopy(metadata)
        return copy.deepcopy(self._commit(resource.plural, old, obj))

    def remove(self, resource: Resource, name: str, namespace: str = "default") -> None:
        self._delete(resource.plural, self._objects[resource.plural, namespace, name])

    def compact(self) -> None:
        """Forgets the history: watches from before now get 410, also with pages of lists."""
        self._floor = self._revision
        self._snapshots.clear()

    def stall(self) -> None:
        """Watches stay open and deliver nothing until ``flow``."""
        self._stalled = True

    def flow(self) -> None:
        self._stalled = False
        self._wake()

    def break_watches(self) -> None:
        self._generation += 1
        self._wake()

    # HTTP

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        match = PATH.match(request.path)
        if match is None:
            return web.json_response({"gitVersion": "v1.34.0"})
        payload = await request.read()
        call = Call(
            request.method,
            match["plural"],
            match["name"] or "",
            dict(request.query),
            orjson.loads(payload) if payload else None,
            request.headers.get("Authorization", ""),
        )
        self.calls.append(call)
        fault = self.fault(call)
        if fault == "hang":
            await asyncio.sleep(30)
        if fault == "drop-before":
            return _abort(request)
        if isinstance(fault, int):
            return web.json_response(
                RefusalError(fault, "", "commanded").body,
                status=fault,
                headers={"Retry-After": "3"},
            )
        if (other := self.instead(call)) is not None:
            return web.Response(body=other, content_type="application/json")
        try:
            if "watch" in call.query:
                with suppress(ConnectionResetError):
                    await self._watch(request, call, match["namespace"])
                return _abort(request)
            answer = self._answer(call, match, request.content_type)
        except RefusalError as refusal:
            return web.json_response(refusal.body, status=refusal.status)
        if fault == "drop-after":
            return _abort(request)
        if fault == "fail-after":
            return web.json_response(RefusalError(504, "Timeout").body, status=504)
        return web.Response(body=orjson.dumps(answer), content_type="application/json")

    def _answer(self, call: Call, match: re.Match[str], content_type: str) -> object:
        namespace = match["namespace"] or ""
        key = (call.plural, namespace, call.name)
        if call.verb == "POST":
            return self._create(call, match)
        if not call.name:
            return self._list(call, match["namespace"])
        old = self._objects.get(key)
        if old is None and call.verb == "PATCH" and content_type.endswith("apply-patch+yaml"):
            return self._create(call, match)
        if old is None:
            text = f"{call.plural} {call.name!r} not found"
            raise RefusalError(404, "NotFound", text, name=call.name)
        if call.verb == "GET":
            return old
        if call.verb == "DELETE":
            return self._delete_requested(call, old)
        if content_type == "application/json-patch+json":
            new = json_patched(old, call.body)
        else:
            new = _merged(old, call.body)
        if match["subresource"] == "status":
            new = {**old, "metadata": new["metadata"], "status": new.get("status", {})}
        asked = new["metadata"].get("resourceVersion")
        if asked != old["metadata"]["resourceVersion"]:
            raise RefusalError(409, "Conflict", "the object has been modified")
        return self._commit(call.plural, old, new)

    def _create(self, call: Call, match: re.Match[str]) -> Object:
        name = call.body["metadata"]["name"]
        namespace = match["namespace"] or ""
        if (call.plural, namespace, name) in self._objects:
            raise RefusalError(409, "AlreadyExists", f"{call.plural} {name!r} already exists")
        resource = Resource(match["group"] or "", match["version"], call.plural, "")
        obj = _merged(_new(resource, namespace, name), call.body)
        return self._commit(call.plural, None, obj)

    def _delete_requested(self, call: Call, old: Object) -> Object:
        wanted = (call.body or {}).get("preconditions", {})
        if any(old["metadata"][name] != value for name, value in wanted.items()):
            raise RefusalError(409, "Conflict", "Precondition failed")
        if old["metadata"].get("finalizers"):
            if "deletionTimestamp" not in old["metadata"]:
                new = copy.deepcopy(old)
                new["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
                return self._commit(call.plural, old, new)
            return old
        self._delete(call.plural, old)
        return {"kind": "Status", "status": "Success"}

    def _list(self, call: Call, namespace: str | None) -> Object:
        limit = int(call.query.get("limit", "0"))
        token = call.query.get("continue")
        if token:
            token, _, start = token.partition(":")
            if token not in self._snapshots:
                raise RefusalError(410, "Expired", "The provided continue parameter is too old")
            offset = int(start)
        else:
            token, offset = str(self._revision), 0
            self._snapshots[token] = [
                obj
                for (plural, place, _), obj in self._objects.items()
                if plural == call.plural
                and namespace in (None, place)
                and _matches(obj, call.query)
            ]
        items = self._snapshots[token][offset:]
        metadata = {"resourceVersion": token}
        if limit and len(items) > limit:
            items = items[:limit]
            metadata["continue"] = f"{token}:{offset + limit}"
        return {"kind": "List", "metadata": metadata, "items": items}

    async def _watch(self, request: web.Request, call: Call, namespace: str | None) -> None:
        seen = int(call.query["resourceVersion"])
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        generation = self._generation
        if seen < self._floor:
            gone = RefusalError(410, "Expired", "too old resource version").body
            await response.write(orjson.dumps({"type": "ERROR", "object": gone}) + b"\n")
            return
        while generation == self._generation:
            self._changed.clear()
            for change in [] if self._stalled else self._changes(seen):
                seen = change.revision
                event = _watched(change, call, namespace)
                if event is not None:
                    await response.write(orjson.dumps(event) + b"\n")
            try:
                await asyncio.wait_for(self._changed.wait(), self.bookmark_every)
            except TimeoutError:
                # Changes may have been let through since: a bookmark never overtakes them.
                if not (self._stalled or self.silent_watches or self._changes(seen)):
                    seen = self._revision
                    bookmark = {"metadata": {"resourceVersion": str(seen)}}
                    event = {"type": "BOOKMARK", "object": bookmark}
                    await response.write(orjson.dumps(event) + b"\n")

    def _changes(self, after: int) -> list[Change]:
        return [change for change in self._history if change.revision > after]

    # Storage

    def _commit(self, plural: str, old: Object | None, new: Object) -> Object:
        metadata = new["metadata"]
        if old is not None and new == old:
            return old
        if "deletionTimestamp" in metadata and not metadata.get("finalizers"):
            # As the real one does: deleted instead of stored, answered with the old revision.
            self._delete(plural, old or new)
            return new
        self._revision += 1
        metadata["resourceVersion"] = str(self._revision)
        key = (plural, metadata["namespace"], metadata["name"])
        self._objects[key] = new
        self._record(Change(self._revision, plural, old, new))
        return new

    def _delete(self, plural: str, old: Object) -> None:
        self._revision += 1
        del self._objects[plural, old["metadata"]["namespace"], old["metadata"]["name"]]
        self._record(Change(self._revision, plural, old, None))

    def _record(self, change: Change) -> None:
        self._history.append(change)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()


def _new(resource: Resource, namespace: str, name: str) -> Object:
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": str(uuid.uuid4()),
            "managedFields": [{"manager": "somebody"}],
        },
    }


def _abort(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def _matches(obj: Object, query: dict[str, str]) -> bool:
    labels = obj["metadata"].get("labels", {})
    for term in filter(None, query.get("labelSelector", "").split(",")):
        name, _, value = term.partition("=")
        if labels.get(name) != value:
            return False
    for term in filter(None, query.get("fieldSelector", "").split(",")):
        path, _, value = term.partition("=")
        found: Any = obj
        for part in path.split("."):
            found = found.get(part, {})
        if found != value:
            return False
    return True


def _watched(change: Change, call: Call, namespace: str | None) -> Object | None:
    either = change.new or change.old
    assert either is not None
    if change.plural != call.plural or namespace not in (None, either["metadata"]["namespace"]):
        return None
    before = change.old is not None and _matches(change.old, call.query)
    after = change.new is not None and _matches(change.new, call.query)
    if not before and not after:
        return None
    kind = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
    metadata = either["metadata"] | {"resourceVersion": str(change.revision)}
    return {"type": kind, "object": either | {"metadata": metadata}}


def _merged(old: Object, patch: Object) -> Object:
    new = copy.deepcopy(old)
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        elif isinstance(value, dict):
            before = new.get(name)
            new[name] = _merged(before if isinstance(before, dict) else {}, value)
        else:
            new[name] = copy.deepcopy(value)
    return new


def json_patched(old: Object, operations: list[Object]) -> Object:
    new = copy.deepcopy(old)
    for operation in operations:
        *parents, last = _names(operation["path"])
        target: Any = new
        try:
            for part in parents:
                target = target[int(part) if isinstance(target, list) else part]
        except (IndexError, KeyError):
            raise RefusalError(422, "Invalid", "the path does not exist") from None
        place: Any = int(last) if isinstance(target, list) else last
        if operation["op"] == "add":
            target[place] = operation["value"]
            continue
        try:
            value = target[place]
        except (IndexError, KeyError):
            raise RefusalError(422, "Invalid", "the path does not exist") from None
        if operation["op"] == "test" and value != operation["value"]:
            raise RefusalError(422, "Invalid", "testing value failed")
        if operation["op"] == "remove":
            del target[place]
        if operation["op"] == "replace":
            target[place] = operation["value"]
    return new


def _names(path: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
