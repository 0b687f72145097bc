"""The API server in memory: objects with revisions, and what each kind of write means.

Writes are applied at one instant; that requests take time, fail or come twice is the client's part.
Raises the errors that the real client raises.
"""

from __future__ import annotations

import asyncio
import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from bernstein.api.meta import GROUP
from bernstein.crds.kinds import KINDS
from bernstein.crds.schema import new_status
from bernstein.kube.errors import ApiError, api_error
from bernstein.kube.resource import (
    CONFIG_MAPS,
    EVENTS,
    JOBS,
    LEASES,
    NETWORK_POLICIES,
    PODS,
    Key,
    Object,
    Resource,
    is_deleting,
    key_of,
    resource_version_of,
    uid_of,
)
from bernstein.resources import APPROVALS, PLANS, PROJECTS, ROLES, SESSIONS, TASKS
from tests.model.loop import START

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
NAMESPACE = "work"
FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
KEPT = (
    PROJECTS,
    PLANS,
    TASKS,
    SESSIONS,
    APPROVALS,
    ROLES,
    JOBS,
    PODS,
    CONFIG_MAPS,
    NETWORK_POLICIES,
    LEASES,
    EVENTS,
)
ENDED = ("Succeeded", "Failed")
_BORN = {kind.plural: new_status(kind.model) for kind in KINDS}
"""What the API server makes of a status that nobody has written yet."""


class Change(NamedTuple):
    """One event of a watch."""

    revision: int
    at: float
    type: str
    object: Object


class Look(NamedTuple):
    """An answer of the API server: when it was given, and what it said of an object."""

    at: float
    object: Object


Hook = Callable[[Resource, Object | None, Object | None], None]


def copy(obj: Object) -> Object:
    made: Object = orjson.loads(orjson.dumps(obj))
    return made


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def refused(status: int, reason: str, message: str = "") -> ApiError:
    return api_error(status, {"reason": reason, "message": message or reason})


class Store:
    def __init__(self) -> None:
        self.objects: dict[Resource, dict[Key, Object]] = {kind: {} for kind in KEPT}
        self.log: dict[Resource, list[Change]] = {kind: [] for kind in KEPT}
        self.floor: dict[Resource, int] = defaultdict(int)
        """Revisions up to this one are too old to watch from."""
        self.hooks: list[Hook] = []
        self.forbidden: list[tuple[str, str, int]] = []
        """What a quota or a webhook of the cluster refuses: kind, part of the name, and the status
        of its answer."""
        self.looked_at: dict[str, Look] = {}
        """The last live look at each object by its name, by its uid."""
        self.revision = 1
        self._uids = 0
        self._news: dict[Resource, asyncio.Event] = {kind: asyncio.Event() for kind in KEPT}

    # --- time -------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        return asyncio.get_running_loop().time()

    def now(self) -> datetime:
        """The time of day, as every machine of the cluster but the operator's has it."""
        return EPOCH + timedelta(seconds=self.seconds - START)

    # --- reading ----------------------------------------------------------------------------------

    def find(self, resource: Resource, key: Key) -> Object | None:
        """The object itself, not to be changed."""
        return self.objects[resource].get(key)

    def get(self, resource: Resource, key: Key) -> Object:
        found = self.find(resource, key)
        if found is None:
            raise refused(404, "NotFound", f"{resource.plural} {key.name} not found")
        return copy(found)

    def all(self, resource: Resource) -> list[Object]:
        return list(self.objects[resource].values())

    def matching(
        self, resource: Resource, label_selector: str | None, field_selector: str | None
    ) -> list[Object]:
        found = [
            copy(obj)
            for obj in self.objects[resource].values()
            if selected(obj, label_selector, field_selector)
        ]
        if field_selector:
            self.looked_at.update((uid_of(obj), Look(self.seconds, obj)) for obj in found)
        return found

    def since(self, resource: Resource, revision: int) -> list[Change]:
        log = self.log[resource]
        return log[bisect_right(log, revision, key=lambda change: change.revision) :]

    async def news(self, resource: Resource, seconds: float) -> None:
        """Until something of the kind changes, or so long."""
        loop, event = asyncio.get_running_loop(), self._news[resource]
        timer = loop.call_later(seconds, event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()
            if event.is_set() and self._news[resource] is event:
                self._news[resource] = asyncio.Event()

    def wake(self, resource: Resource) -> None:
        self._news[resource].set()
        self._news[resource] = asyncio.Event()

    # --- writing ----------------------------------------------------------------------------------

    def create(self, resource: Resource, obj: Object) -> Object:
        made = copy(obj)
        meta = made["metadata"]
        if "name" not in meta:
            meta["name"] = f"{meta.pop('generateName')}{self._uids:04x}"
        meta.setdefault("namespace", NAMESPACE)
        key = key_of(made)
        if key in self.objects[resource]:
            raise refused(409, "AlreadyExists", f"{resource.plural} {key.name} already exists")
        for kind, part, status in self.forbidden:
            if kind == resource.plural and part in key.name:
                raise refused(status, "", "denied by a policy of the cluster")
        self._uids += 1
        start = hashlib.blake2b(str(self._uids).encode(), digest_size=4).hexdigest()
        meta["uid"] = f"{start}-{self._uids:04x}"
        meta["creationTimestamp"] = stamp(self.now())
        meta["generation"] = 1
        if _has_status(resource):
            made["status"] = _new_status(resource)
        return self._put(resource, made)

    def merge(
        self, resource: Resource, key: Key, body: Mapping[str, Any], subresource: str | None = None
    ) -> Object:
        """A JSON merge patch; of the status alone, or of all but the status."""
        live = self._live(resource, key)
        expected = body.get("metadata", {}).get("resourceVersion")
        if expected is not None and expected != live["metadata"]["resourceVersion"]:
            raise refused(409, "Conflict", "the object has been modified")
        new = _merged(live, body)
        new["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"]
        if subresource == "status":
            new = live | {"status": new.get("status", {})}
        elif _has_status(resource):
            new["status"] = live["status"]
        return self._replace(resource, live, new)

    def edit(
        self,
        resource: Resource,
        key: Key,
        body: Iterable[Mapping[str, Any]],
        subresource: str | None = None,
    ) -> Object:
        """A JSON patch with the operations test, add, replace and remove."""
        live = self._live(resource, key)
        new = copy(live)
        for step in body:
            try:
                _edit(new, step)
            except (LookupError, ValueError) as error:
                raise refused(422, "Invalid", f"the patch does not apply: {error}") from error
        revision = live["metadata"]["resourceVersion"]
        if new["metadata"]["resourceVersion"] != revision:
            raise refused(409, "Conflict", "the object has been modified")
        if subresource == "status":
            new = live | {"status": new.get("status", {})}
        return self._replace(resource, live, new)

    def set_status(self, resource: Resource, key: Key, status: Object) -> None:
        """What controllers of the cluster write: the whole status."""
        live = self.find(resource, key)
        if live is not None:
            self._replace(resource, live, live | {"status": status})

    def set(self, resource: Resource, new: Object) -> None:
        """What controllers of the cluster write: metadata or spec."""
        live = self.find(resource, key_of(new))
        if live is not None and uid_of(live) == uid_of(new):
            self._replace(resource, live, new)

    def delete(
        self,
        resource: Resource,
        key: Key,
        *,
        propagation: str = "Background",
        uid: str | None = None,
        version: str | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        live = self._live(resource, key)
        if uid is not None and uid_of(live) != uid:
            raise refused(409, "Conflict", "the uid does not match")
        if version and live["metadata"]["resourceVersion"] != version:
            raise refused(409, "Conflict", "the resourceVersion does not match")
        if propagation == "Orphan":
            self.admit_orphans()
        new = copy(live)
        meta = new["metadata"]
        holds: list[str] = meta.get("finalizers", [])
        extra = {"Foreground": FOREGROUND, "Orphan": ORPHAN}.get(propagation)
        if extra is not None and extra not in holds and not is_deleting(live):
            holds = meta["finalizers"] = [*holds, extra]
        grace = _grace(resource, live, grace_seconds)
        if not is_deleting(live) and not holds and not grace:
            self._remove(resource, new)  # at once: it was never seen being deleted
            return
        if not is_deleting(live):
            meta["deletionTimestamp"] = stamp(self.now() + timedelta(seconds=grace))
            meta["deletionGracePeriodSeconds"] = grace
            meta["generation"] += 1
        elif grace < meta.get("deletionGracePeriodSeconds", 0):
            meta["deletionGracePeriodSeconds"] = grace
        self._replace(resource, live, new)

    def admit_orphans(self) -> None:
        """The chart's admission policy `orphans`: what belongs to an object goes with it."""
        raise refused(403, "Forbidden", "what belongs to it is deleted with it")

    def _live(self, resource: Resource, key: Key) -> Object:
        found = self.find(resource, key)
        if found is None:
            raise refused(404, "NotFound", f"{resource.plural} {key.name} not found")
        return found

    def _replace(self, resource: Resource, live: Object, new: Object) -> Object:
        meta = new["metadata"]
        held = meta.get("finalizers") or meta.get("deletionGracePeriodSeconds")
        if is_deleting(new) and not held:
            return self._remove(resource, new)
        if new == live:
            return copy(live)
        new = copy(new)
        if new.get("spec") != live.get("spec"):
            new["metadata"]["generation"] = live["metadata"]["generation"] + 1
        return self._put(resource, new)

    def _put(self, resource: Resource, new: Object) -> Object:
        key = key_of(new)
        old = self.objects[resource].get(key)
        self.objects[resource][key] = self._revised(resource, new)
        self._tell(resource, "MODIFIED" if old else "ADDED", old, new)
        return copy(new)

    def _remove(self, resource: Resource, last: Object) -> Object:
        last = self._revised(resource, copy(last))
        old = self.objects[resource].pop(key_of(last))
        self._tell(resource, "DELETED", old, None, last)
        return copy(last)

    def _revised(self, resource: Resource, obj: Object) -> Object:
        self.revision += 1
        obj["metadata"]["resourceVersion"] = str(self.revision)
        obj |= {"apiVersion": resource.api_version, "kind": resource.kind}
        return obj

    def _tell(
        self,
        resource: Resource,
        kind: str,
        old: Object | None,
        new: Object | None,
        last: Object | None = None,
    ) -> None:
        told = new or last
        assert told is not None
        change = Change(resource_version_of(told), self.seconds, kind, told)
        self.log[resource].append(change)
        self.wake(resource)
        for hook in self.hooks:
            hook(resource, old, new)


# --- what a write does to an object -------------------------------------------------------------


def _new_status(resource: Resource) -> Object:
    return copy(_BORN.get(resource.plural, {}))


def _has_status(resource: Resource) -> bool:
    return resource.group == GROUP or resource in (JOBS, PODS)


def _grace(resource: Resource, live: Object, asked: int | None) -> int:
    """Pods alone end gracefully, and only once a node has them."""
    if resource != PODS or not live["spec"].get("nodeName"):
        return 0
    if live["status"].get("phase") in ENDED:
        return 0
    return asked if asked is not None else live["spec"].get("terminationGracePeriodSeconds", 30)


def _merged(old: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    new = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        else:
            new[name] = _merged(new.get(name), value)
    return new


def _edit(obj: Any, step: Mapping[str, Any]) -> None:
    *way, last = (
        part.replace("~1", "/").replace("~0", "~") for part in step["path"][1:].split("/")
    )
    for part in way:
        obj = obj[int(part)] if isinstance(obj, list) else obj[part]
    name: Any = int(last) if isinstance(obj, list) else last
    match step["op"]:
        case "test":
            if obj[name] != step["value"]:
                raise ValueError(f"{step['path']} is another")
        case "remove":
            del obj[name]
        case "replace":
            obj[name]
            obj[name] = step["value"]
        case "add":
            obj[name] = step["value"]


def selected(obj: Object, labels: str | None, fields: str | None) -> bool:
    meta = obj["metadata"]
    own = meta.get("labels", {})
    for name, value in _pairs(labels):
        if own.get(name) != value:
            return False
    for name, value in _pairs(fields):
        found = {
            "metadata.name": meta["name"],
            "involvedObject.uid": obj.get("involvedObject", {}).get("uid"),
        }[name]
        if found != value:
            return False
    return True


def _pairs(selector: str | None) -> list[tuple[str, str]]:
    if not selector:
        return []
    pairs = (part.partition("=") for part in selector.split(","))
    return [(name, value) for name, _, value in pairs]
