"""Declarative writes and how they are executed: idempotent, fenced, remembered by the guard."""

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson

from bernstein.kube.client import Client
from bernstein.kube.errors import AlreadyExists, Conflict, Invalid, NameConflict, NotFound, Requeue
from bernstein.kube.guard import Guard
from bernstein.kube.lease import Fence
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


@dataclass(frozen=True, slots=True)
class Create:
    """Makes ``obj``, whose name is deterministic; one that is ours already is as good."""

    resource: Resource
    obj: Object


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes in the foreground exactly the object with this uid; gone already is fine."""

    resource: Resource
    key: Key
    uid: str


@dataclass(frozen=True, slots=True)
class AddFinalizer:
    resource: Resource
    obj: Object
    finalizer: str


@dataclass(frozen=True, slots=True)
class RemoveFinalizer:
    resource: Resource
    obj: Object
    finalizer: str


@dataclass(frozen=True, slots=True)
class SetSpec:
    """Makes the spec of ``live`` that of ``obj``, if it is not.

    ``obj`` spells its spec as the API server does: with all defaults, and nothing that is empty.
    """

    resource: Resource
    obj: Object
    live: Object


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """Makes the status of ``obj`` equal to ``status``, if it is not.

    None values count as absent. Top-level keys in ``preserve`` have another writer and are left
    alone. Fails with Conflict when ``obj`` is not the current state.
    """

    resource: Resource
    obj: Object
    status: Mapping[str, Any]
    preserve: tuple[str, ...] = ()


Action: TypeAlias = Create | Delete | AddFinalizer | RemoveFinalizer | SetSpec | StatusPatch


@dataclass(frozen=True, slots=True)
class Ownership:
    """The label (name, value) of all that we make, and the annotation for its spec hash."""

    label: tuple[str, str]
    hash_annotation: str


class Executor:
    """Sends actions, each as at most one write, while the fence is open.

    ``owner`` is the key that is being reconciled: the guard keeps it from being reconciled again
    before the caches show the write. After any write the process may die: the same actions
    executed again end in the same state.
    """

    def __init__(
        self,
        client: Client,
        *,
        fence: Fence,
        guard: Guard,
        ownership: Ownership,
        timeout: float = 30.0,
    ) -> None:
        self._client = client
        self._fence = fence
        self._guard = guard
        self._ownership = ownership
        self._timeout = timeout

    async def execute_all(self, owner: Key, actions: Iterable[Action]) -> list[Object | None]:
        """In order; the first error ends it."""
        return [await self.execute(owner, action) for action in actions]

    async def execute(self, owner: Key, action: Action) -> Object | None:
        """The object as it is afterwards, or None when it is gone.

        Raises LostLeadership, NameConflict, Requeue (the name is still being deleted) and
        whatever the client raises.
        """
        obj = await self._send(action)
        if obj is not None:
            self._guard.wrote(owner, action.resource, obj)
        elif isinstance(action, Delete):
            self._guard.deleted(owner, action.resource, action.key, action.uid)
        else:
            key, uid = key_of(action.obj), uid_of(action.obj)
            self._guard.deleted(owner, action.resource, key, uid, gone=True)
        return obj

    async def _send(self, action: Action) -> Object | None:
        match action:
            case Create():
                return await self._create(action)
            case Delete():
                return await self._delete(action)
            case AddFinalizer():
                return await self._add_finalizer(action)
            case RemoveFinalizer():
                return await self._remove_finalizer(action)
            case SetSpec():
                return await self._set_spec(action)
            case StatusPatch():
                return await self._patch_status(action)

    def _writer(self) -> Client:
        """A client whose requests end before another leader may start."""
        return self._client.with_timeout(min(self._timeout, self._fence.check()))

    async def _create(self, action: Create) -> Object:
        resource = action.resource
        desired = self._stamped(resource, action.obj)
        try:
            return await self._writer().create(resource, desired)
        except AlreadyExists:
            key = key_of(desired)
        try:
            live = await self._client.get(resource, key.name, key.namespace)
        except NotFound:
            raise Requeue(DELETING_RETRY, f"{resource.kind} {key} has just been deleted") from None
        if is_deleting(live):
            raise Requeue(DELETING_RETRY, f"{resource.kind} {key} is being deleted")
        differs = self._difference(desired, live)
        if differs is not None:
            raise NameConflict(
                f"{resource.kind} {key} exists and its {differs} is not ours; delete or rename it",
                live=live,
                differs=differs,
            )
        return live

    async def _delete(self, action: Delete) -> Object | None:
        key = action.key
        # Conflict: the name belongs to another object by now, so this one is gone.
        with suppress(NotFound, Conflict):
            await self._writer().delete(action.resource, key.name, key.namespace, uid=action.uid)
        return None

    async def _add_finalizer(self, action: AddFinalizer) -> Object:
        metadata = action.obj["metadata"]
        finalizers = metadata.get("finalizers", [])
        if action.finalizer in finalizers:
            return action.obj
        body = {
            "metadata": {
                "resourceVersion": metadata["resourceVersion"],
                "finalizers": [*finalizers, action.finalizer],
            }
        }
        key = key_of(action.obj)
        return await self._writer().patch(action.resource, key.name, key.namespace, body)

    async def _remove_finalizer(self, action: RemoveFinalizer) -> Object | None:
        obj, key, uid = action.obj, key_of(action.obj), uid_of(action.obj)
        for attempt in range(3):
            finalizers = obj["metadata"].get("finalizers", [])
            if action.finalizer not in finalizers:
                return obj
            path = f"/metadata/finalizers/{finalizers.index(action.finalizer)}"
            # The uid and the place are tested, so that neither another object of that name nor
            # another's finalizer is touched; the resourceVersion is not: pods change all the time.
            body = [
                {"op": "test", "path": "/metadata/uid", "value": uid},
                {"op": "test", "path": path, "value": action.finalizer},
                {"op": "remove", "path": path},
            ]
            try:
                live = await self._writer().patch(action.resource, key.name, key.namespace, body)
            except NotFound:
                return None
            except Invalid:
                if attempt == 2:
                    raise
            else:
                return None if _was_last_hold(live) else live
            try:
                obj = await self._client.get(action.resource, key.name, key.namespace)
            except NotFound:
                return None
            if uid_of(obj) != uid:
                return None
        raise AssertionError("unreachable")

    async def _set_spec(self, action: SetSpec) -> Object:
        live, desired = action.live, self._stamped(action.resource, action.obj)
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
        return await self._writer().patch(action.resource, key.name, key.namespace, body)

    async def _patch_status(self, action: StatusPatch) -> Object:
        obj = action.obj
        changes = status_diff(obj.get("status") or {}, action.status, action.preserve)
        if not changes:
            return obj
        key = key_of(obj)
        body = {
            "metadata": {"resourceVersion": obj["metadata"]["resourceVersion"]},
            "status": changes,
        }
        return await self._writer().patch(
            action.resource, key.name, key.namespace, body, subresource="status"
        )

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


def _was_last_hold(obj: Object) -> bool:
    """Whether the server deleted the object instead of storing it, as the answer to a patch.

    The answer has the revision of before, so that it does not show by that.
    """
    metadata = obj["metadata"]
    held = metadata.get("finalizers") or metadata.get("deletionGracePeriodSeconds")
    return is_deleting(obj) and not held


def status_diff(
    old: Mapping[str, Any], new: Mapping[str, Any], preserve: Iterable[str] = ()
) -> dict[str, Any]:
    """The JSON merge patch from ``old`` to ``new``; empty when they are equal.

    None in ``new`` counts as absent, and lists are replaced as a whole.
    """
    kept = set(preserve)
    return _merge_patch(
        {name: value for name, value in old.items() if name not in kept},
        {name: _without_none(value) for name, value in new.items() if name not in kept},
    )


def _merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {
        name: None for name, value in old.items() if value is not None and new.get(name) is None
    }
    for name, value in new.items():
        before = old.get(name)
        if value is None or value == before:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            patch[name] = _merge_patch(before, value)
        else:
            patch[name] = value
    return patch


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_none(item) for name, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]
    return value
