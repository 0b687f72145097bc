"""How controllers write: only while they lead, and each write remembered until caches show it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from bernstein.api.meta import Metadata
from bernstein.api.plan import CHANGEABLE
from bernstein.controllers.caches import Caches
from bernstein.core import labels
from bernstein.core.jobs import JobView
from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.content import is_content_of
from bernstein.kube.errors import ApiError, NameConflict, SpecMutated, WriteRefused, is_refusal
from bernstein.kube.events import EventRecorder
from bernstein.kube.guard import Guard
from bernstein.kube.lease import Fence
from bernstein.kube.resource import (
    CONFIG_MAPS,
    JOBS,
    Key,
    Object,
    Resource,
    key_of,
    resource_version_of,
    uid_of,
)
from bernstein.kube.writes import (
    Create,
    Delete,
    Executor,
    MergePatch,
    Ownership,
    RemoveFinalizer,
    SetSpec,
    StatusPatch,
)
from bernstein.resources import APPROVALS, PLANS, TASKS

EXACT = {
    TASKS: ("cancel", "requests"),
    APPROVALS: ("decision", "decidedBy", "reason"),
    PLANS: CHANGEABLE,
    CONFIG_MAPS: (),
}
"""What is taken at its word, with the fields of its spec that people change: another of that name
will do only if it says the same. A Job's verdict names what was asked, and only the operator's
account makes Jobs and sessions."""
REFUSED_SECONDS = 30.0
"""A change that the API server refuses is not sent again for so long, whoever asks for it."""
OWNERSHIP = Ownership(label=(labels.MANAGED_BY, labels.MANAGER), hash_annotation=labels.SPEC_HASH)


def check_content(resource: Resource, live: Object, desired: Object) -> None:
    """Raises NameConflict where an object may not stand for the one that was to be made."""
    exact = EXACT.get(resource)
    if exact is not None and not is_content_of(live, desired, exact):
        name = live["metadata"]["name"]
        raise NameConflict(
            f"{resource.kind} '{name}' says something else", live=live, differs="spec"
        )


class ApprovalRefused(WriteRefused):
    """The server refuses an Approval: a right is missing, or a quota or admission says no."""

    reason = "ApprovalRefused"


class _Refusal(NamedTuple):
    until: float
    """In seconds of the monotonic clock."""
    cause: ApiError


_What = tuple[type, Resource, Key, str]
"""What is written: how, of which kind, to which object, and its uid where it is known."""


def _told(write: Delete | MergePatch | RemoveFinalizer) -> tuple[str, Key, str]:
    """What is done, to which object; "" for the uid of one whose name alone is known."""
    match write:
        case Delete():
            return "delete", write.key, write.uid
        case MergePatch():
            return "change", write.key, ""
        case RemoveFinalizer():
            return f"take the finalizer {write.finalizer} off", key_of(write.obj), uid_of(write.obj)


class Writer:
    """One controller's writes. `owner` is the key that is being reconciled."""

    def __init__(
        self,
        client: Client,
        caches: Caches,
        fence: Fence,
        events: EventRecorder,
        clock: Clock = REAL,
        *,
        leader: str = "",
    ) -> None:
        self.guard = Guard(caches.informers, clock=clock)
        self.events = events
        self._caches = caches
        self._mutated: dict[tuple[Resource, Key], int] = {}
        """The revision of each object whose spec did not become what we wrote."""
        self._refused: dict[_What, _Refusal] = {}
        self._clock = clock
        self._executor = Executor(
            client, fence=fence, guard=self.guard, ownership=OWNERSHIP, leader=leader
        )

    async def create(self, owner: Key, resource: Resource, obj: Object) -> Object:
        """The object that was made, or the one of the same name, owner and label that is there.

        Raises NameConflict when the name is somebody else's, or what is there says something else
        and is of a kind that is taken at its word.
        """
        try:
            made = await self._executor.execute(owner, Create(resource, obj))
        except NameConflict as conflict:
            if conflict.differs != "spec":
                raise
            # Made before a crash, from an older Project or by an older release: it is adopted,
            # like a Job that the cache shows.
            made = conflict.live
            self.guard.wrote(owner, resource, made)
        assert made is not None
        check_content(resource, made, obj)
        return made

    async def ask(self, owner: Key, approval: Object) -> None:
        """Makes an Approval. Raises ApprovalRefused; for REFUSED_SECONDS without asking again."""
        name = approval["metadata"]["name"]
        what = (Create, APPROVALS, Key(owner.namespace, name), "")
        await self._unless_refused(
            what,
            f"make Approval '{name}'",
            lambda: self.create(owner, APPROVALS, approval),
            ApprovalRefused,
        )

    async def produce(self, owner: Key, plan: Object) -> None:
        """Makes the Plan that a Task has produced. Raises WriteRefused; for REFUSED_SECONDS without
        asking again."""
        name = plan["metadata"]["name"]
        await self._unless_refused(
            (Create, PLANS, Key(owner.namespace, name), ""),
            f"make Plan '{name}'",
            lambda: self._produce(owner, plan),
        )

    async def _produce(self, owner: Key, plan: Object) -> None:
        made = await self.create(owner, PLANS, plan)
        asks = (each["spec"].get("approval", {}).get("plan") for each in (made, plan))
        if len({*asks}) > 1:
            # A policy only becomes stricter: this one was made by others, to begin without a yes.
            name = plan["metadata"]["name"]
            text = f"Plan '{name}' exists and is not ours: it waits for no approval"
            raise NameConflict(text, live=made, differs="spec")

    async def set_spec(self, owner: Key, resource: Resource, obj: Object, live: Object) -> None:
        """Corrects a spec that differs from `obj`, once. Raises SpecMutated if it changes back."""
        key = key_of(live)
        if self._mutated.get((resource, key)) != resource_version_of(live):
            live = await self._executor.execute(owner, SetSpec(resource, obj, live)) or live
        if live["spec"] != obj["spec"]:
            self._forget_gone()
            self._mutated[resource, key] = resource_version_of(live)
            raise SpecMutated(
                f"{resource.kind} '{key.name}' is changed by something in the cluster"
            )
        self._mutated.pop((resource, key), None)

    def _forget_gone(self) -> None:
        """Drops what is known of objects that are in no cache any more."""
        caches = {informer.resource: informer for informer in self._caches.informers}
        self._mutated = {
            (resource, key): revision
            for (resource, key), revision in self._mutated.items()
            if resource in caches and caches[resource].get(key) is not None
        }

    async def delete(self, owner: Key, resource: Resource, obj: Object) -> None:
        """Raises WriteRefused, as do all that change or delete what is there."""
        await self._change(owner, Delete(resource, key_of(obj), uid_of(obj)))

    async def delete_unchanged(self, owner: Key, resource: Resource, meta: Metadata) -> None:
        """Deletes the object only as it was read: one that has changed since stays."""
        key = Key(meta.namespace, meta.name)
        await self._change(owner, Delete(resource, key, meta.uid, meta.resource_version))

    async def delete_job(self, owner: Key, job: JobView) -> None:
        key = Key(owner.namespace, job.name)
        await self._change(owner, Delete(JOBS, key, job.uid))

    async def merge(self, owner: Key, resource: Resource, name: str, body: Object) -> None:
        """A merge patch of a spec that we wrote ourselves."""
        await self._change(owner, MergePatch(resource, Key(owner.namespace, name), body))

    async def release(self, owner: Key, resource: Resource, obj: Object) -> None:
        """Takes our finalizer off, once what the object tells of its end is recorded elsewhere."""
        await self._change(owner, RemoveFinalizer(resource, dict(obj), labels.FINALIZER))

    async def _change(self, owner: Key, write: Delete | MergePatch | RemoveFinalizer) -> None:
        """Raises WriteRefused; for REFUSED_SECONDS without asking again.

        Whatever happens has a Task, a Plan or a session looked at: without that, one that is
        refused something would be refused it as often as anything happens.
        """
        verb, key, uid = _told(write)
        what = (type(write), write.resource, key, uid)
        text = f"{verb} {write.resource.kind} '{key.name}'"
        await self._unless_refused(what, text, lambda: self._executor.execute(owner, write))

    async def _unless_refused(
        self,
        what: _What,
        text: str,
        act: Callable[[], Awaitable[object]],
        error: type[WriteRefused] = WriteRefused,
    ) -> None:
        """Does it, unless it was refused just before: `error` is raised then, and when it is."""
        now = self._clock.monotonic()
        known = self._refused.get(what)
        if known is not None and now < known.until:
            raise error(text, known.cause)
        try:
            await act()
        except ApiError as cause:
            if not is_refusal(cause):
                raise
            self._refused = {w: r for w, r in self._refused.items() if now < r.until}
            self._refused[what] = _Refusal(now + REFUSED_SECONDS, cause)
            raise error(text, cause) from cause
        self._refused.pop(what, None)

    async def status(
        self,
        owner: Key,
        resource: Resource,
        obj: Object,
        status: Mapping[str, Any],
        preserve: tuple[str, ...] = (),
        *,
        alone: bool = False,
    ) -> bool:
        """Sends one patch if anything differs; returns whether it did. `alone`: see StatusPatch."""
        action = StatusPatch(resource, obj, status, preserve, alone)
        new = await self._executor.execute(owner, action)
        return new is not None and new is not obj
