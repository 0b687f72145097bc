"""Writes as data, and how they are executed: idempotent, fenced, and remembered by the guard."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import orjson

from bernstein.kube.client import Client
from bernstein.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Invalid,
    KubeError,
    NameConflict,
    NotFound,
    NotYetFree,
    Overloaded,
    Requeue,
    is_unanswered,
)
from bernstein.kube.guard import Guard
from bernstein.kube.lease import Fence
from bernstein.kube.patches import Operation, json_patch, status_diff, stripped
from bernstein.kube.resource import (
    Key,
    Object,
    Resource,
    controller_of,
    is_deleting,
    key_of,
    uid_of,
)

DELETING_RETRY = 1.0
SETTLED_RETRY, REFUSED_RETRY = 0.1, 5.0
LONG = 50
"""Items of a list of which only the changed ones are sent."""


@dataclass(frozen=True, slots=True)
class Create:
    """Makes ``obj``, whose name is deterministic; an object of that name that is ours will do."""

    resource: Resource
    obj: Object


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes the object with this uid, and no other, in the foreground; it may be gone already."""

    resource: Resource
    key: Key
    uid: str
    version: str = ""
    """Where it is said, the object is deleted at this resourceVersion only."""


@dataclass(frozen=True, slots=True)
class RemoveFinalizer:
    """Removes this finalizer of ``obj`` and no other; either may be gone already."""

    resource: Resource
    obj: Object
    finalizer: str


@dataclass(frozen=True, slots=True)
class SetSpec:
    """Makes the spec of ``live`` equal to that of ``obj``, if it is not.

    The spec in ``obj`` must be written as the API server stores it: with all defaults, and without
    empty fields.
    """

    resource: Resource
    obj: Object
    live: Object


@dataclass(frozen=True, slots=True)
class MergePatch:
    """A JSON merge patch of an object that only we write, whatever its state."""

    resource: Resource
    key: Key
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """Makes the status of ``obj`` equal to ``status``, if it is not.

    Fields that are None count as absent. Top-level keys in ``preserve`` have another writer and are
    left alone. Raises Conflict when ``obj`` is not the current state. Where a long list changes,
    only changed items are sent; else a merge patch, which has lists as a whole.

    ``alone``: it rests on no status of another object that had no answer, and does not wait for it.
    """

    resource: Resource
    obj: Object
    status: Mapping[str, Any]
    preserve: tuple[str, ...] = ()
    alone: bool = False


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Says in the status of the object which process leads: whatever was read of it before is not
    the current state any more."""

    resource: Resource
    key: Key


Write: TypeAlias = Create | Delete | RemoveFinalizer | SetSpec | MergePatch | StatusPatch | TakeOver


@dataclass(frozen=True, slots=True)
class Ownership:
    """How our objects are recognised: by a label (name, value), and an annotation that holds the
    hash of what we wrote."""

    label: tuple[str, str]
    hash_annotation: str


class Executor:
    """Executes writes, each by at most one request, while the fence is open.

    ``owner`` is the key that is being reconciled; the guard does not let it be reconciled again
    before the caches show the write. The process may die after any write: the same writes executed
    again lead to the same state.
    """

    def __init__(
        self,
        client: Client,
        *,
        fence: Fence,
        guard: Guard,
        ownership: Ownership,
        leader: str = "",
        timeout: float = 30.0,
    ) -> None:
        """`leader` names this process, and no other one before or after it."""
        self._client = client
        self._fence = fence
        self._guard = guard
        self._ownership = ownership
        self._leader = leader
        self._timeout = timeout

    async def execute(self, owner: Key, write: Write) -> Object | None:
        """Executes a write; returns the object as it is afterwards, or None when it is gone.

        Raises LostLeadership, NameConflict, Requeue (an object of that name is still being deleted)
        and what the client raises. When that leaves open whether the write was applied, the guard
        has the object read live before ``owner`` is reconciled again.

        What is done rests on a status. So where one that was sent before had no answer, it is sent
        again, in place of this write, and Requeue is raised once that was answered. One that the
        process before has sent nobody knows: there a status of our own is sent first.
        """
        for what, again in self._guard.open_statuses(owner).items():
            if not _goes_ahead(write, what):
                await self._settle(owner, what, again, "what was said of it had no answer")
        for what in () if _is_safe(write) else self._guard.inherited(owner):
            await self._settle(owner, what, partial(self._take_over, owner, what), "taken over")
        return await self._execute(owner, write)

    async def _take_over(self, owner: Key, what: tuple[Resource, Key]) -> None:
        await self._execute(owner, TakeOver(*what))
        self._guard.took_over(*what)

    async def _settle(
        self,
        owner: Key,
        what: tuple[Resource, Key],
        again: Callable[[], Awaitable[object]],
        why: str,
    ) -> None:
        """Raises Requeue, or what the client raises where it is not answered either."""
        after = SETTLED_RETRY
        try:
            await again()
        except ApiError as error:
            if is_unanswered(error) or isinstance(error, Overloaded):
                raise  # it says nothing of what was sent before
            # It is overtaken, maybe by itself, or refused: what stands there a live read tells.
            self._guard.reread(owner, *what)
            after = SETTLED_RETRY if isinstance(error, Conflict | NotFound) else REFUSED_RETRY
        raise Requeue(after, f"{what[0].kind} {what[1]}: {why}")

    async def _execute(self, owner: Key, write: Write) -> Object | None:
        try:
            obj = await self._send(write)
        except (KubeError, asyncio.CancelledError) as error:
            if is_unanswered(error):
                self._guard.uncertain(owner, write.resource, _key_of(write))
                if isinstance(write, StatusPatch):
                    again = partial(self._execute, owner, write)
                    self._guard.said(owner, write.resource, write.obj, again)
            raise
        if obj is not None:
            if obj is not _as_read(write):  # else nothing was sent, and nothing is to be seen
                self._guard.wrote(owner, write.resource, obj)
        elif isinstance(write, Delete):
            self._guard.deleted(owner, write.resource, write.key, write.uid)
        elif isinstance(write, RemoveFinalizer):
            key, uid = key_of(write.obj), uid_of(write.obj)
            self._guard.deleted(owner, write.resource, key, uid, gone=True)
        return obj

    async def _send(self, write: Write) -> Object | None:
        match write:
            case Create():
                return await self._create(write)
            case Delete():
                return await self._delete(write)
            case RemoveFinalizer():
                return await self._remove_finalizer(write)
            case SetSpec():
                return await self._set_spec(write)
            case MergePatch(resource, key, body):
                return await self._writer().patch(resource, key.name, key.namespace, body)
            case StatusPatch():
                return await self._patch_status(write)
            case TakeOver(resource, key):
                body = {"status": {"leader": self._leader}}
                return await self._writer().patch(
                    resource, key.name, key.namespace, body, subresource="status"
                )

    def _writer(self) -> Client:
        """A client whose requests end before another leader may start."""
        return self._client.with_timeout(min(self._timeout, self._fence.check()))

    async def _create(self, write: Create) -> Object:
        resource = write.resource
        desired = self._stamped(resource, write.obj)
        try:
            return await self._writer().create(resource, desired)
        except AlreadyExists:
            key = key_of(desired)
        try:
            live = await self._client.get(resource, key.name, key.namespace)
        except NotFound:
            raise Requeue(DELETING_RETRY, f"{resource.kind} {key} has just been deleted") from None
        if is_deleting(live):
            raise NotYetFree(DELETING_RETRY, f"{resource.kind} {key} is being deleted")
        differs = self._difference(desired, live)
        if differs == "owner" and _is_left_over(desired, live):
            raise NotYetFree(DELETING_RETRY, f"{resource.kind} {key} is left over, and goes")
        if differs is not None:
            raise NameConflict(
                f"{resource.kind} {key} exists and its {differs} is not ours; delete or rename it",
                live=live,
                differs=differs,
            )
        return live

    async def _delete(self, write: Delete) -> Object | None:
        key = write.key
        # Conflict: the name belongs to another object by now, so this one is gone; or it has
        # changed, and whoever reconciles it hears of that.
        with suppress(NotFound, Conflict):
            await self._writer().delete(
                write.resource, key.name, key.namespace, uid=write.uid, version=write.version
            )
        return None

    async def _remove_finalizer(self, write: RemoveFinalizer) -> Object | None:
        obj, key, uid = write.obj, key_of(write.obj), uid_of(write.obj)
        for attempt in range(3):
            finalizers = obj["metadata"].get("finalizers", [])
            if write.finalizer not in finalizers:
                return obj
            path = f"/metadata/finalizers/{finalizers.index(write.finalizer)}"
            # The uid and the path are tested, so that neither another object of that name nor
            # another finalizer is touched. The resourceVersion is not: pods change all the time.
            body = [
                {"op": "test", "path": "/metadata/uid", "value": uid},
                {"op": "test", "path": path, "value": write.finalizer},
                {"op": "remove", "path": path},
            ]
            try:
                live = await self._writer().patch(write.resource, key.name, key.namespace, body)
            except NotFound:
                return None
            except Invalid:
                if attempt == 2:
                    raise
            else:
                return None if _was_last_hold(live) else live
            try:
                obj = await self._client.get(write.resource, key.name, key.namespace)
            except NotFound:
                return None
            if uid_of(obj) != uid:
                return None
        raise AssertionError("unreachable")

    async def _set_spec(self, write: SetSpec) -> Object:
        live, desired = write.live, self._stamped(write.resource, write.obj)
        if self._hash(live) == self._hash(desired) and live["spec"] == desired["spec"]:
            return live
        annotations = live["metadata"].get("annotations", {}) | desired["metadata"]["annotations"]
        key = key_of(live)
        # A merge patch would leave what others have added to the spec.
        body = [
            {"op": "test", "path": "/metadata/uid", "value": uid_of(live)},
            {"op": "add", "path": "/metadata/annotations", "value": annotations},
            {"op": "replace", "path": "/spec", "value": desired["spec"]},
        ]
        return await self._writer().patch(write.resource, key.name, key.namespace, body)

    async def _patch_status(self, write: StatusPatch) -> Object:
        obj = write.obj
        changes = status_diff(obj.get("status") or {}, write.status, write.preserve)
        if not changes:
            return obj
        key, revision = key_of(obj), obj["metadata"]["resourceVersion"]
        patch = partial(
            self._writer().patch,
            write.resource,
            key.name,
            key.namespace,
            subresource="status",
        )
        if not any(isinstance(value, list) and len(value) > LONG for value in changes.values()):
            return await patch({"metadata": {"resourceVersion": revision}, "status": changes})
        try:
            return await patch(_of_items(obj, write, revision))
        except Invalid:
            # It is applied before revisions are compared: what it names may be another by now.
            if await self._is_current(write.resource, key, revision):
                raise
            raise Conflict(409, "Conflict", "the object has been modified") from None

    async def _is_current(self, resource: Resource, key: Key, revision: str) -> bool:
        """Whether the object has this revision; read as a list, which needs no further right."""
        selector = f"metadata.name={key.name}"
        found = await self._client.list(resource, key.namespace, field_selector=selector)
        return any(obj["metadata"]["resourceVersion"] == revision for obj in found.items)

    def _stamped(self, resource: Resource, obj: Object) -> Object:
        """The object with kind, our label and its own hash."""
        label, value = self._ownership.label
        metadata = obj["metadata"]
        digest = hashlib.sha256(orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)).hexdigest()
        return {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            **obj,
            "metadata": {
                **metadata,
                "labels": {**metadata.get("labels", {}), label: value},
                "annotations": {
                    **metadata.get("annotations", {}),
                    self._ownership.hash_annotation: digest[:32],
                },
            },
        }

    def _hash(self, obj: Object) -> str | None:
        digest: str | None = (
            obj["metadata"].get("annotations", {}).get(self._ownership.hash_annotation)
        )
        return digest

    def _difference(
        self, desired: Object, live: Object
    ) -> Literal["label", "owner", "spec"] | None:
        label, value = self._ownership.label
        if live["metadata"].get("labels", {}).get(label) != value:
            return "label"
        if (controller_of(live) or {}).get("uid") != (controller_of(desired) or {}).get("uid"):
            return "owner"
        return None if self._hash(live) == self._hash(desired) else "spec"


def _is_left_over(desired: Object, live: Object) -> bool:
    """Whether only an object that had the name of today's owner owns it: that one is gone, and the
    garbage collector deletes what it has left."""
    owners, mine = live["metadata"].get("ownerReferences", []), controller_of(desired)
    if mine is None or len(owners) != 1:
        return False
    return all(owners[0][key] == mine[key] for key in ("apiVersion", "kind", "name"))


def _as_read(write: Write) -> Object | None:
    """The object as it was before the write, where the writer had read it."""
    match write:
        case SetSpec(live=obj) | StatusPatch(obj=obj) | RemoveFinalizer(obj=obj):
            return obj
    return None


def _key_of(write: Write) -> Key:
    if isinstance(write, Delete | MergePatch | TakeOver):
        return write.key
    return key_of(write.obj)


def _goes_ahead(write: Write, what: tuple[Resource, Key]) -> bool:
    """Whether it is sent although a status of ``what`` had no answer.

    Another status of the same revision takes its place: one of the two is applied.
    """
    if not isinstance(write, StatusPatch):
        return False
    return write.alone or what == (write.resource, key_of(write.obj))


def _is_safe(write: Write) -> bool:
    """Whether it is applied only to the very state that was read, or changes nothing at all."""
    if isinstance(write, RemoveFinalizer):
        return write.finalizer not in write.obj["metadata"].get("finalizers", [])
    return isinstance(write, StatusPatch) or (isinstance(write, Delete) and bool(write.version))


def _was_last_hold(obj: Object) -> bool:
    """Whether a patch removed the last finalizer, so that the server deleted the object.

    ``obj`` is the server's answer to the patch, in which only this tells of the deletion.
    """
    metadata = obj["metadata"]
    held = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
    return is_deleting(obj) and not held


def _of_items(obj: Object, write: StatusPatch, revision: str) -> list[Operation]:
    """The JSON Patch of the status, which has of a list the changed items."""
    old, kept = obj.get("status") or {}, set(write.preserve)
    new = {name: value for name, value in write.status.items() if name not in kept}
    known = {name: value for name, value in old.items() if name not in kept}
    whole = [] if "status" in obj else [{"op": "add", "path": "/status", "value": {}}]
    return [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": revision},
        *whole,
        *json_patch(known, stripped(known, new), "/status"),
    ]
