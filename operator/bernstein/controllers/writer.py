"""How controllers write: fenced, remembered, told as Events and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bernstein.controllers.caches import Caches
from bernstein.core import names
from bernstein.core.pods import JobView
from bernstein.kube.actions import (
    Create,
    Delete,
    Executor,
    Ownership,
    RemoveFinalizer,
    SetSpec,
    StatusPatch,
)
from bernstein.kube.client import Client
from bernstein.kube.errors import NameConflict, SpecMutated
from bernstein.kube.events import EventRecorder
from bernstein.kube.guard import Guard
from bernstein.kube.lease import Fence
from bernstein.kube.resource import (
    JOBS,
    Key,
    Object,
    Resource,
    key_of,
    resource_version_of,
    uid_of,
)

REQUEST_SECONDS = 30.0
OWNERSHIP = Ownership(label=(names.LABEL_MANAGED, names.MANAGER), hash_annotation=names.SPEC_HASH)


class Writer:
    """One controller's writes. `owner` is the key that is being reconciled."""

    def __init__(self, client: Client, caches: Caches, fence: Fence, events: EventRecorder) -> None:
        self.guard = Guard(caches.informers)
        self.events = events
        self._client = client
        self._fence = fence
        self._mutated: dict[tuple[Resource, Key], int] = {}
        """Revisions of objects whose spec does not become what we write."""
        self._executor = Executor(client, fence=fence, guard=self.guard, ownership=OWNERSHIP)

    async def create(self, owner: Key, resource: Resource, obj: Object) -> Object:
        """The object; one of that name, owner and label is as good.

        Raises NameConflict when the name is somebody else's.
        """
        try:
            made = await self._executor.execute(owner, Create(resource, obj))
        except NameConflict as conflict:
            if conflict.differs != "spec":
                raise
            # Made from an older Project, or by an older release, before a crash: it is adopted,
            # as a Job is that the cache shows.
            made = conflict.live
            self.guard.wrote(owner, resource, made)
        assert made is not None
        return made

    async def set_spec(self, owner: Key, resource: Resource, obj: Object, live: Object) -> None:
        """Puts right what differs from `obj`, once; see SetSpec. Raises SpecMutated."""
        key = key_of(live)
        if self._mutated.get((resource, key)) != resource_version_of(live):
            live = await self._executor.execute(owner, SetSpec(resource, obj, live)) or live
        if live["spec"] != obj["spec"]:
            self._mutated[resource, key] = resource_version_of(live)
            raise SpecMutated(
                f"{resource.kind} '{key.name}' is changed by something in the cluster"
            )
        self._mutated.pop((resource, key), None)

    async def delete(self, owner: Key, resource: Resource, obj: Object) -> None:
        await self._executor.execute(owner, Delete(resource, key_of(obj), uid_of(obj)))

    async def delete_job(self, owner: Key, job: JobView) -> None:
        key = Key(owner.namespace, job.name)
        await self._executor.execute(owner, Delete(JOBS, key, job.uid))

    async def merge(self, owner: Key, resource: Resource, name: str, body: Object) -> None:
        """A merge patch of a spec that we wrote ourselves."""
        client = self._client.with_timeout(min(REQUEST_SECONDS, self._fence.check()))
        obj = await client.patch(resource, name, owner.namespace, body)
        self.guard.wrote(owner, resource, obj)

    async def release(self, owner: Key, resource: Resource, obj: Object) -> None:
        """Takes our finalizer off: what the object said of its end is recorded elsewhere."""
        action = RemoveFinalizer(resource, dict(obj), names.RESULT_FINALIZER)
        await self._executor.execute(owner, action)

    async def status(
        self,
        owner: Key,
        resource: Resource,
        obj: Object,
        status: Mapping[str, Any],
        preserve: tuple[str, ...] = (),
    ) -> bool:
        """One patch, if anything differs; whether it was sent."""
        action = StatusPatch(resource, obj, status, preserve)
        new = await self._executor.execute(owner, action)
        return new is not None and new is not obj
