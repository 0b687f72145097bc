"""The informers of everything that decisions read, and their objects as models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from bernstein.api import plan, project, session, task
from bernstein.api.approvals import approval
from bernstein.api.meta import Metadata
from bernstein.api.pod import AGENT
from bernstein.api.states import TaskState
from bernstein.controllers.job_views import OWNER, POD_INDEXES, JobViews
from bernstein.core import labels
from bernstein.core.fsm import ACTIVE
from bernstein.core.owners import is_plan
from bernstein.core.tasks.retention import DELIVERED_BY
from bernstein.kube.cache import by_controller_uid
from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.informer import Informer
from bernstein.kube.observer import Observer
from bernstein.kube.reconcile import Predicate
from bernstein.kube.resource import (
    JOBS,
    NETWORK_POLICIES,
    PODS,
    Key,
    Object,
    controller_of,
    key_of,
)
from bernstein.resources import APPROVALS, PLANS, PROJECTS, SESSIONS, TASKS

T = TypeVar("T")

SESSION, UPSTREAM, PLAN, AWAITED = "session", "upstream", "plan", "awaited"
AT_WORK, DONE, BEGINS = "at work", "done", "begins"
"""Names of indexes. The last three hold few of thousands: Tasks that have an agent, by namespace;
Tasks that are Done, by Plan; Plans that ask for a turn to begin or have one, by namespace."""


class Parsed(Generic[T]):
    """An informer's objects as models; each version of an object is parsed once."""

    def __init__(self, informer: Informer, parse: Callable[[Object], T]) -> None:
        self.informer = informer
        self._parse = parse
        self._known: dict[Key, tuple[str, T]] = {}
        self._before: tuple[str, T] | None = None
        """Version and model that the object of the current event had before it."""
        self._by_namespace: dict[str, dict[str, T]] = defaultdict(dict)
        informer.add_handler(self._changed)

    def _changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None:
            self._before = self._known.get(key_of(old))
        if new is not None:
            key = key_of(new)
            self._by_namespace[key.namespace][key.name] = self.of(new)
        elif old is not None:
            key = key_of(old)
            self._known.pop(key, None)
            self._by_namespace[key.namespace].pop(key.name, None)

    def changes(self, predicate: Callable[[T | None, T | None], bool]) -> Predicate:
        """The predicate on models as one on the raw objects of an event."""

        def of_event(old: Object | None, new: Object | None) -> bool:
            return predicate(self._in_event(old), self._in_event(new))

        return of_event

    def _in_event(self, obj: Object | None) -> T | None:
        """The model of an object in the current event: of the version before it, or since."""
        if obj is None:
            return None
        version = obj["metadata"]["resourceVersion"]
        if self._before is not None and self._before[0] == version:
            return self._before[1]
        known = self._known.get(key_of(obj))
        return known[1] if known is not None and known[0] == version else self._parse(obj)

    def of(self, obj: Object) -> T:
        """The model of this version of the object."""
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
        """All of a namespace. It changes with the cache, so it may be read only until an await."""
        return self._by_namespace[namespace]

    def of_plan(self, plan: Metadata) -> dict[str, T]:
        """All of the Plan, by name; of what has the index PLAN."""
        return self.by_index(PLAN, _of(plan.namespace, plan.uid))

    def done_of_plan(self, plan: Metadata) -> dict[str, T]:
        """Those of the Plan that are Done, by name; of what has the index DONE."""
        return self.by_index(DONE, _of(plan.namespace, plan.uid))

    def done_beside(self, obj: Object) -> dict[str, T]:
        """Those of the Plan that owns this object that are Done, by name."""
        of = (self.by_index(DONE, plan) for plan in _plan_of(obj))
        return next(of, {})

    def by_index(self, index: str, value: str) -> dict[str, T]:
        """All that an index of the informer has under the value, by name."""
        return {o["metadata"]["name"]: self.of(o) for o in self.informer.by_index(index, value)}


class Caches:
    """Everything watched, by one client."""

    def __init__(
        self,
        client: Client,
        namespaces: Sequence[str] | None = None,
        *,
        observer: Observer | None = None,
        clock: Clock = REAL,
    ) -> None:
        ours = f"{labels.MANAGED_BY}={labels.MANAGER}"
        self._client = client
        informer = partial(
            Informer,
            client,
            namespaces=namespaces,
            annotations=is_read,
            observer=observer,
            clock=clock,
        )
        owned = {OWNER: by_controller_uid}
        self.projects = Parsed(informer(PROJECTS), project.parse)
        self.plans = Parsed(informer(PLANS, indexes={BEGINS: _begins}), plan.parse)
        graph = {
            PLAN: _plan_of,
            UPSTREAM: lambda obj: obj["spec"].get("dependsOn", ()),
            AWAITED: _awaited,
            AT_WORK: _at_work,
            DONE: lambda obj: _plan_of(obj) if _state(obj) == TaskState.DONE else (),
        }
        self.tasks = Parsed(informer(TASKS, indexes=graph), task.parse)
        self.sessions = Parsed(
            informer(SESSIONS, indexes=owned | {PLAN: _plan_of_session}), session.parse
        )
        self.approvals = Parsed(informer(APPROVALS, indexes=owned), approval.parse)
        self.jobs = informer(JOBS, label_selector=ours, indexes=owned)
        self.pods = informer(
            PODS,
            label_selector=ours,
            indexes=POD_INDEXES | {SESSION: session_of_pod},
        )
        self.job_views = JobViews(client, self.jobs, self.pods, clock)
        self.network_policies = informer(
            NETWORK_POLICIES,
            label_selector=ours,
            indexes=owned,
            annotations=None,  # others' are written back together with our own
        )

    @property
    def informers(self) -> list[Informer]:
        return [
            self.projects.informer,
            self.plans.informer,
            self.tasks.informer,
            self.sessions.informer,
            self.approvals.informer,
            self.jobs,
            self.pods,
            self.network_policies,
        ]


def is_read(annotation: str) -> bool:
    """Whether anything of the operator reads annotations of this name."""
    return annotation.startswith(labels.OURS) or annotation in DELIVERED_BY


def session_of_pod(pod: Object) -> Collection[str]:
    """The session whose agent runs in it; pods of checks name theirs for people only."""
    own = pod["metadata"]["labels"]
    return (own[labels.SESSION],) if own.get(labels.JOB) == AGENT else ()


def _awaited(task: Object) -> Collection[str]:
    """Names of the Tasks that it is Blocked on."""
    status = task.get("status", {})
    if status.get("state") != TaskState.BLOCKED:
        return ()
    return tuple((status.get("blocked") or {}).get("tasks", ()))


def _plan_of(task: Object) -> Collection[str]:
    """The Plan that owns it. Its uid alone may be written in any namespace, beside any API."""
    owner = controller_of(task)
    if owner is None or not is_plan(owner["apiVersion"], owner["kind"]):
        return ()
    return (_of(task["metadata"]["namespace"], owner["uid"]),)


def _state(task: Object) -> object:
    return task.get("status", {}).get("state")


def _at_work(task: Object) -> Collection[str]:
    return (task["metadata"]["namespace"],) if _state(task) in ACTIVE else ()


def _begins(plan: Object) -> Collection[str]:
    asked = plan.get("status", {}).get("beginning")
    return (plan["metadata"]["namespace"],) if asked is not None else ()


def _plan_of_session(session: Object) -> Collection[str]:
    plan = session["spec"].get("planRef")
    return (_of(session["metadata"]["namespace"], plan["uid"]),) if plan is not None else ()


def _of(namespace: str, uid: str) -> str:
    return f"{namespace}/{uid}"
