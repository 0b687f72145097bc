"""The Jobs of an object with their pods, from the caches; from the API server where an end is read
from what is missing."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from bernstein.api.meta import Metadata
from bernstein.core import diagnosis, labels, pods, runs
from bernstein.core.jobs import JobView
from bernstein.kube.cache import by_label
from bernstein.kube.client import Client, ObjectList
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import TooLarge
from bernstein.kube.informer import Informer
from bernstein.kube.resource import (
    EVENTS,
    JOBS,
    PODS,
    Key,
    Object,
    Resource,
    controller_of,
    is_deleting,
    key_of,
    selectors_of,
    uid_of,
)
from bernstein.observe import logging

log = logging.logger(__name__)

OWNER = "owner"
"""Index of Jobs, and of pods, by the uid of the object of ours that owns the Job."""
POD_INDEXES = {OWNER: by_label(labels.OWNER_UID)}
FIRST_EVENTS_SECONDS, LAST_EVENTS_SECONDS = 5.0, 60.0
"""Events of what is stuck are listed again after so long, then after twice as long, at most after
the last: it is looked at more often than that."""
EVENTS_BYTES, EVENTS_READ, EVENTS_KEPT = 2**20, 200, 32
"""Events are anybody's to make, as many and as large as he likes. So many bytes and Events of what
is stuck are read, and so many are kept: of a pod and its volumes the kubelet tells a few."""
_WORDS = 1024
"""Characters of an Event's text that are kept."""
DELETED_PODS = 500
"""So many last states of deleted pods are kept: how a pod ended may be asked after it is gone."""


@dataclass
class _Seen:
    """When this process first saw a pod on a node, at work, and told to end; monotonic seconds."""

    bound: float | None = None
    running: float | None = None
    ending: float | None = None
    end: Object | None = None
    """Its state once it had ended and nobody had deleted it: a deletion says nothing of that."""

    def note(self, pod: Object, at: float) -> None:
        main = pod["metadata"]["labels"].get(labels.JOB, "")
        if self.bound is None and pods.is_scheduled(pod):
            self.bound = at
        if self.running is None and pods.running_since(pod, main) is not None:
            self.running = at
        if self.ending is None and is_deleting(pod):
            self.ending = at
        if not is_deleting(pod) and pods.has_ended(pod):
            self.end = pod


_UNSEEN = _Seen()


@dataclass(frozen=True)
class _Listed:
    """Events as they were listed at this monotonic time, and for how many seconds they will do."""

    events: tuple[Object, ...]
    at: float
    lasts: float


class JobViews:
    """What the streams of Jobs and pods tell, put together."""

    def __init__(
        self,
        client: Client,
        jobs: Informer,
        pods: Informer,
        clock: Clock = REAL,
    ) -> None:
        self._client = client
        self._jobs = jobs
        self._pods = pods
        self._clock = clock
        self._seen: dict[str, _Seen] = {}
        """Of each pod in the cache, and of those that are remembered, by its uid."""
        self._deleted: OrderedDict[str, Object] = OrderedDict()
        """Last states of pods that were deleted, by uid."""
        self._deleted_of: defaultdict[str, dict[str, Object]] = defaultdict(dict)
        """The same by the uid of the Jobs' owner."""
        self._events: dict[str, _Listed] = {}
        """Of each Job or pod that is stuck, by its uid."""
        self._without_pod: set[str] = set()
        """Uids of ended Jobs that have no pod, by the word of the API server."""
        pods.add_handler(self._pod_changed)
        jobs.add_handler(self._job_changed)

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            assert old is not None
            self._events.pop(uid_of(old), None)
            seen = self._seen.setdefault(uid_of(old), _Seen())
            if seen.ending is None:
                seen.ending = self._clock.monotonic()
            self._remember(old)
        else:
            self._seen.setdefault(uid_of(new), _Seen()).note(new, self._clock.monotonic())

    def _remember(self, pod: Object) -> None:
        self._deleted[uid_of(pod)] = pod
        self._deleted_of[_owner_uid(pod)][uid_of(pod)] = pod
        while len(self._deleted) > DELETED_PODS:
            uid, oldest = self._deleted.popitem(last=False)
            self._seen.pop(uid, None)
            of_owner = self._deleted_of[_owner_uid(oldest)]
            del of_owner[uid]
            if not of_owner:
                del self._deleted_of[_owner_uid(oldest)]

    def _job_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None and old is not None:
            self._without_pod.discard(uid_of(old))
            self._events.pop(uid_of(old), None)

    def knows_any(self, owner_uid: str) -> bool:
        """Whether an object owns a Job or a pod, or did a moment ago, as far as is known here."""
        each = (informer.index_keys(OWNER, owner_uid) for informer in (self._jobs, self._pods))
        return owner_uid in self._deleted_of or any(each)

    async def of(self, owner: Metadata, now: datetime, *expected: str | None) -> dict[str, JobView]:
        """The Jobs that an object owns, by name. Events are read where a pod is stuck.

        Jobs and pods come from two streams. Where these show an end without a pod, or lack a Job
        that is `expected`, or show a fence in its place, the API server is asked. So it is after a
        pod that seems lost: its node may have told of its end by now, and what it has used, while
        the stream is late. What was read stays known, however late the streams are. Raises
        KubeError.
        """
        views = self._cached(owner, now)
        for pod in _seem_lost(views.values(), now):
            await self._pods.refresh(pod)
            views = self._cached(owner, now)
        lacks = any(_lacks(views, each) for each in expected)
        if lacks or any(runs.may_have_pod(view) for view in views.values()):
            views = await self._live(owner, now)
        for job in self._jobs.by_index(OWNER, owner.uid):
            view = views.get(job["metadata"]["name"])
            if view is not None and _is_stuck(view, now):
                views[view.name] = await self._with_events(view, job)
        return views

    def _cached(self, owner: Metadata, now: datetime) -> dict[str, JobView]:
        jobs = self._jobs.by_index(OWNER, owner.uid)
        return self._views(jobs, self._pods.by_index(OWNER, owner.uid), owner, now)

    async def _live(self, owner: Metadata, now: datetime) -> dict[str, JobView]:
        """The Jobs are read first: what is gone by then makes no pod before those are read."""
        jobs = await self._list(JOBS, owner)
        read = await self._list(PODS, owner)
        self._jobs.take(jobs)
        # How a pod ended before it was told to go, its stream alone tells.
        staying = [pod for pod in read.items if not is_deleting(pod)]
        self._pods.take(ObjectList(staying, read.resource_version))
        living = [*read.items, *self._pods.by_index(OWNER, owner.uid)]
        views = self._views(jobs.items, living, owner, now)
        for name, view in views.items():
            if runs.may_have_pod(view):
                self._without_pod.add(view.uid)
                views[name] = replace(view, no_pod=True)
        return views

    async def _list(self, resource: Resource, owner: Metadata) -> ObjectList:
        selector = f"{labels.MANAGED_BY}={labels.MANAGER},{labels.OWNER_UID}={owner.uid}"
        return await self._client.list(resource, owner.namespace, label_selector=selector)

    def _views(
        self, jobs: Collection[Object], living: Collection[Object], owner: Metadata, now: datetime
    ) -> dict[str, JobView]:
        if owner.uid not in self._deleted_of and not jobs and not living:
            return {}  # as at every fourth look
        known = {uid_of(pod) for pod in living}
        deleted = self._deleted_of.get(owner.uid, {})
        all_pods = (*living, *(pod for uid, pod in deleted.items() if uid not in known))
        views, made = {}, {}
        of_job: defaultdict[str, list[Object]] = defaultdict(list)
        for pod in all_pods:
            of_job[pod["metadata"]["labels"].get(labels.JOB_UID, "")].append(pod)
        for job in jobs:
            view = self._view(job)
            views[view.name] = view
            made[view.name] = [pod for pod in of_job[view.uid] if _made_by(pod, job)]
        for pod in all_pods:
            name = _job_name(pod)
            standing = views.get(name)
            if standing is None or runs.is_fence(standing):
                views[name] = self._orphan(name, pod, fenced=standing is not None)
                made[name] = [other for other in all_pods if _are_of_one_job(other, pod)]
        return {
            name: self._with_first(view, made[name], known, now) for name, view in views.items()
        }

    def _with_first(
        self, view: JobView, made: Iterable[Object], living: Collection[str], now: datetime
    ) -> JobView:
        """The view with the first of its pods, which are in any order and may be there twice.

        What a later one says would be another answer to the same question. `living` are uids.
        """
        each: dict[str, Object] = {}
        for pod in made:
            each.setdefault(uid_of(pod), pod)
        first, *later = [
            self._with_pod(view, pod, living, now) for pod in sorted(each.values(), key=_age)
        ] or [view]
        another = any(not runs.is_over(other, now) for other in later)
        return replace(first, another=True) if another else first

    def _view(self, job: Object) -> JobView:
        """A Job, without its pod."""
        meta, status = job["metadata"], job.get("status", {})
        true = {c["type"]: c for c in status.get("conditions", ()) if c.get("status") == "True"}
        failed = true.get("Failed")
        deletion = meta.get("deletionTimestamp")
        return JobView(
            name=meta["name"],
            uid=meta["uid"],
            created=pods.parse_time(meta["creationTimestamp"]),
            deleting=is_deleting(job),
            failed=failed.get("reason", "Failed") if failed else None,
            complete="Complete" in true,
            deletion=pods.parse_time(deletion) if deletion else None,
            finalizers=tuple(meta.get("finalizers", ())),
            no_pod=meta["uid"] in self._without_pod,
            labels=meta.get("labels", {}),
        )

    def _orphan(self, name: str, pod: Object, *, fenced: bool) -> JobView:
        """A pod whose Job is gone: it may still be at work."""
        meta = pod["metadata"]
        return JobView(
            name=name,
            uid=meta["uid"],
            created=pods.parse_time(meta["creationTimestamp"]),
            deleting=True,
            orphan=True,
            fenced=fenced,
            pod=pod,
            labels=meta["labels"],
        )

    def _with_pod(
        self, view: JobView, pod: Object, living: Collection[str], now: datetime
    ) -> JobView:
        """The view with a pod: how long this process has seen it so, how it has ended, and whether
        it is none of the `living`, which are uids."""
        seen, measured = self._seen.get(uid_of(pod), _UNSEEN), self._clock.monotonic()

        def since(first: float | None) -> datetime | None:
            return now - timedelta(seconds=measured - first) if first is not None else None

        return replace(
            view,
            pod=seen.end or pod,
            removed=uid_of(pod) not in living,
            bound_since=since(seen.bound),
            running_since=since(seen.running),
            ending_since=since(seen.ending),
        )

    async def _with_events(self, view: JobView, job: Object) -> JobView:
        subject = view.pod if view.pod is not None else job
        uid, now = str(subject["metadata"]["uid"]), self._clock.monotonic()
        known = self._events.get(uid)
        if known is not None and now - known.at < known.lasts:
            return replace(view, events=known.events)
        lasts = FIRST_EVENTS_SECONDS if known is None else known.lasts * 2
        events = await self._read_events(subject["metadata"]["namespace"], uid)
        self._events[uid] = _Listed(events, now, min(lasts, LAST_EVENTS_SECONDS))
        return replace(view, events=events)

    async def _read_events(self, namespace: str, uid: str) -> tuple[Object, ...]:
        """What is read of the Events about an object; nothing where they are too large."""
        selectors = selectors_of(None, f"involvedObject.uid={uid}")
        try:
            events = await self._client.first_page(
                EVENTS, namespace, selectors, limit=EVENTS_READ, most_bytes=EVENTS_BYTES
            )
        except TooLarge as error:
            log.info("events not read", namespace=namespace, uid=uid, reason=error.reason)
            return ()
        telling = (e for e in events if e.get("reason") in diagnosis.EVENTS_THAT_TELL)
        return tuple(map(_as_event, islice(telling, EVENTS_KEPT)))


def _lacks(views: Mapping[str, JobView], expected: str | None) -> bool:
    """Whether the caches may not show how far the expected Job is: it is gone or fenced, and a pod
    that it left may not be seen yet."""
    if expected is None:
        return False
    view = views.get(expected)
    return view is None or (runs.is_fence(view) and view.pod is None)


def _seem_lost(views: Iterable[JobView], now: datetime) -> list[Key]:
    """Of pods whose node has said nothing for so long that they count as lost, by the caches.

    Of one that is removed the API server knows nothing more.
    """
    return [
        key_of(dict(view.pod))
        for view in views
        if view.pod is not None and not view.removed and runs.state(view, now) is runs.State.LOST
    ]


def _as_event(event: Object) -> Object:
    """The Event with what is read of it; that may be text of any length."""
    said = ((name, event.get(name)) for name in ("reason", "note", "message"))
    return {name: text[:_WORDS] for name, text in said if isinstance(text, str)}


def _owner_uid(pod: Object) -> str:
    return str(pod["metadata"]["labels"].get(labels.OWNER_UID, ""))


def _job_name(pod: Object) -> str:
    return str(pod["metadata"]["labels"].get(labels.JOB_NAME, pod["metadata"]["name"]))


def _made_by(pod: Object, job: Object) -> bool:
    """Whether the Job controller made the pod for this Job, and it is that Job's still.

    An owner reference is quickly written, and taken away: so what the controller wrote on the pod
    when it made it has to say the same.
    """
    of_pod, meta, owner = pod["metadata"]["labels"], job["metadata"], controller_of(pod) or {}
    told = (owner.get("uid"), of_pod.get(labels.JOB_UID), of_pod.get(labels.JOB_NAME))
    return told == (meta["uid"], meta["uid"], meta["name"])


def _are_of_one_job(pod: Object, other: Object) -> bool:
    """Whether the Job controller says so of both; a pod is of one Job with itself."""
    said = [each["metadata"]["labels"] for each in (pod, other)]
    same = said[0].get(labels.JOB_UID) == said[1].get(labels.JOB_UID)
    return uid_of(pod) == uid_of(other) or (same and _job_name(pod) == _job_name(other))


def _age(pod: Object) -> tuple[datetime, str]:
    """What sorts pods, the first one that was made first."""
    return pods.parse_time(pod["metadata"]["creationTimestamp"]), uid_of(pod)


def _is_stuck(view: JobView, now: datetime) -> bool:
    """Whether it has waited so long that its Events are worth reading."""
    if runs.state(view, now) is not runs.State.SEEN:
        return False
    if view.pod is None:
        return (now - view.created).total_seconds() >= diagnosis.FAILED_CREATE_SECONDS
    return pods.age(view.pod, now) >= diagnosis.STUCK_SECONDS
