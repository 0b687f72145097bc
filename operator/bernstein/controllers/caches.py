"""The informers of all that decisions read, and the parsed form of what they hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from bernstein.api import plan, project, session, task
from bernstein.controllers import relevance
from bernstein.controllers.kinds import CORE_EVENTS, PLANS, PROJECTS, SESSIONS, TASKS
from bernstein.core import names, pods, reports
from bernstein.core.intents import Turns
from bernstein.core.pods import JobView
from bernstein.kube.cache import by_label, by_owner_uid
from bernstein.kube.client import Client
from bernstein.kube.informer import Informer
from bernstein.kube.resource import (
    JOBS,
    NETWORK_POLICIES,
    PODS,
    Key,
    Object,
    is_deleting,
    key_of,
    uid_of,
)

T = TypeVar("T")

JOB_NAME = "batch.kubernetes.io/job-name"
OWNER, JOB, SESSION, UPSTREAM, PLAN = "owner", "job", "session", "upstream", "plan"
"""Names of indexes."""


class Parsed(Generic[T]):
    """An informer's objects as models; each version of an object is parsed once."""

    def __init__(self, informer: Informer, parse: Callable[[Object], T]) -> None:
        self.informer = informer
        self._parse = parse
        self._known: dict[Key, tuple[str, T]] = {}
        self._by_namespace: dict[str, dict[str, T]] = defaultdict(dict)
        informer.add_handler(self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> None:
        if new is not None:
            key = key_of(new)
            self._by_namespace[key.namespace][key.name] = self.of(new)
        elif old is not None:
            key = key_of(old)
            self._known.pop(key, None)
            self._by_namespace[key.namespace].pop(key.name, None)

    def of(self, obj: Object) -> T:
        key, version = key_of(obj), obj["metadata"]["resourceVersion"]
        known = self._known.get(key)
        if known is not None and known[0] == version:
            return known[1]
        model = self._parse(obj)
        self._known[key] = (version, model)
        return model

    def get(self, key: Key) -> T | None:
        obj = self.informer.get(key)
        return self.of(obj) if obj is not None else None

    def by_name(self, namespace: str) -> Mapping[str, T]:
        """All of a namespace; it changes as the cache does, so read it before the next await."""
        return self._by_namespace[namespace]

    def by_index(self, index: str, value: str) -> dict[str, T]:
        return {o["metadata"]["name"]: self.of(o) for o in self.informer.by_index(index, value)}


class Caches:
    """Everything watched, by one client."""

    def __init__(self, client: Client, namespaces: Sequence[str] | None = None) -> None:
        ours = f"{names.LABEL_MANAGED}={names.MANAGER}"
        self._client = client
        owned = {OWNER: by_owner_uid}
        self.projects = Parsed(Informer(client, PROJECTS, namespaces=namespaces), project.parse)
        self.plans = Parsed(Informer(client, PLANS, namespaces=namespaces), plan.parse)
        graph = owned | {UPSTREAM: lambda obj: obj["spec"].get("dependsOn", ())}
        self.tasks = Parsed(
            Informer(client, TASKS, namespaces=namespaces, indexes=graph), task.parse
        )
        planned = owned | {PLAN: _plan_uid}
        self.sessions = Parsed(
            Informer(client, SESSIONS, namespaces=namespaces, indexes=planned), session.parse
        )
        self.jobs = Informer(
            client, JOBS, namespaces=namespaces, label_selector=ours, indexes=owned
        )
        self.pods = Informer(
            client,
            PODS,
            namespaces=namespaces,
            label_selector=ours,
            indexes={
                JOB: by_label(JOB_NAME),
                SESSION: by_label(names.LABEL_SESSION),
                OWNER: by_label(names.LABEL_OWNER),
            },
        )
        self.network_policies = Informer(
            client, NETWORK_POLICIES, namespaces=namespaces, label_selector=ours, indexes=owned
        )

        self._turns: dict[str, Turns] = {}
        for parsed in (self.projects, self.plans, self.tasks):
            parsed.informer.add_handler(self._forget_turns)

    def turns(self, namespace: str) -> Turns:
        """Where decisions keep what holds until a Task, a Project or a Plan's spec changes."""
        return self._turns.setdefault(namespace, {})

    def _forget_turns(self, old: Object | None, new: Object | None) -> None:
        changed = new or old
        if changed is None or (changed["kind"] == PLANS.kind and relevance.same_spec(old, new)):
            return
        self._turns.pop(key_of(changed).namespace, None)

    @property
    def informers(self) -> list[Informer]:
        return [
            self.projects.informer,
            self.plans.informer,
            self.tasks.informer,
            self.sessions.informer,
            self.jobs,
            self.pods,
            self.network_policies,
        ]

    async def jobs_of(self, owner_uid: str, now: datetime) -> dict[str, JobView]:
        """The Jobs that an object owns, with their pods; Events are read where a pod is stuck."""
        views = {}
        for job in self.jobs.by_index(OWNER, owner_uid):
            view = self.view(job)
            if not view.ended and self._stuck(view, now):
                view = await self._with_events(view, job)
            views[view.name] = view
        for pod in self.pods.by_index(OWNER, owner_uid):
            if pod["metadata"]["labels"].get(JOB_NAME) not in views:
                view = _orphan(pod)
                views[view.name] = view
        return views

    async def log_of_check(self, pod: pods.Object) -> bytes:
        """The end of what a check printed; its node is asked. Raises KubeError."""
        meta = pod["metadata"]
        return await self._client.logs(
            meta["namespace"],
            meta["name"],
            container=reports.CONTAINER,
            tail_lines=reports.LOG_LINES,
            last_bytes=reports.LOG_BYTES,
        )

    def view(self, job: Object) -> JobView:
        """A Job with its pod."""
        meta, status = job["metadata"], job.get("status", {})
        conditions = {
            c["type"]: c for c in status.get("conditions", ()) if c.get("status") == "True"
        }
        failed = conditions.get("Failed")
        return JobView(
            name=meta["name"],
            uid=meta["uid"],
            created=pods.parse_time(meta["creationTimestamp"]),
            deleting=is_deleting(job),
            failed=failed.get("reason", "Failed") if failed else None,
            complete="Complete" in conditions,
            pod=self._pod_of(job),
            labels=meta.get("labels", {}),
        )

    def _pod_of(self, job: Object) -> Object | None:
        meta = job["metadata"]
        found = [
            pod
            for pod in self.pods.by_index(JOB, meta["name"])
            if any(o["uid"] == meta["uid"] for o in pod["metadata"].get("ownerReferences", ()))
        ]
        return max(found, key=lambda pod: pod["metadata"]["creationTimestamp"], default=None)

    def _stuck(self, view: JobView, now: datetime) -> bool:
        if view.pod is None:
            return (now - view.created).total_seconds() >= pods.FAILED_CREATE_SECONDS
        waits = pods.phase(view.pod) == "Pending"
        return waits and pods.age(view.pod, now) >= pods.STUCK_SECONDS

    async def _with_events(self, view: JobView, job: Object) -> JobView:
        about = dict(view.pod) if view.pod is not None else job
        selector = f"involvedObject.uid={uid_of(about)}"
        namespace = about["metadata"]["namespace"]
        found = await self._client.list(CORE_EVENTS, namespace, field_selector=selector, limit=50)
        return replace(view, events=tuple(found.items))


def _plan_uid(session: Object) -> Collection[str]:
    plan = session["spec"].get("planRef")
    return (plan["uid"],) if plan is not None else ()


def _orphan(pod: Object) -> JobView:
    """A pod whose Job is gone: it may still be at work."""
    meta = pod["metadata"]
    return JobView(
        name=meta["labels"].get(JOB_NAME, meta["name"]),
        uid=meta["uid"],
        created=pods.parse_time(meta["creationTimestamp"]),
        deleting=True,
        pod=pod,
        labels=meta["labels"],
    )
