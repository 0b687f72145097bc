"""Everything that acts, put together: caches on every replica, controllers on the leader."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass

from bernstein.api.meta import GROUP
from bernstein.controllers import conflicts, durations, relevance
from bernstein.controllers.caches import UPSTREAM, Caches
from bernstein.controllers.plan import PlanController
from bernstein.controllers.project import ProjectController
from bernstein.controllers.session import SessionController
from bernstein.controllers.settings import Settings
from bernstein.controllers.task import TaskController
from bernstein.controllers.writer import Writer
from bernstein.core import names
from bernstein.core.sanitise import text as sanitise
from bernstein.kube.client import Client
from bernstein.kube.errors import KubeError
from bernstein.kube.events import EventRecorder
from bernstein.kube.informer import Informer
from bernstein.kube.lease import Elector, Fence
from bernstein.kube.queue import Priority
from bernstein.kube.reconcile import Controller, Result, controller_key, label_key
from bernstein.kube.resource import Key, Object, key_of
from bernstein.observe.metrics import Metrics

LEASE = "bernstein-operator"
CATCH_UP_SECONDS = 60.0


@dataclass(frozen=True)
class Tuning:
    workers: int = 4
    resync_seconds: float = 600.0


class Engine:
    """One replica's work. `run` ends when `stop` is set, or raises LostLeadership."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        settings: Settings,
        metrics: Metrics,
        lease: str = LEASE,
        identity: str | None = None,
        watch: list[str] | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        self._client = client
        self._settings = settings
        self._metrics = metrics
        self._tuning = tuning or Tuning()
        self.caches = Caches(client, watch)
        self.elector = Elector(
            client, namespace=namespace, name=lease, identity=identity, observer=metrics
        )
        metrics.watch_population(
            tasks=self.caches.tasks.informer.objects,
            sessions=self.caches.sessions.informer.objects,
            plans=self.caches.plans.informer.objects,
        )

    def not_ready(self) -> str | None:
        """What keeps this replica from taking over, in plain words."""
        behind = [i.resource.plural for i in self.caches.informers if not i.has_synced]
        return f"caches are not filled yet: {', '.join(behind)}" if behind else None

    async def run(self, stop: asyncio.Event) -> None:
        """Watches always, acts while it leads."""
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(i.run()) for i in self.caches.informers]
            try:
                await self.elector.run(self._lead, stop=stop)
            finally:
                for task in watching:
                    task.cancel()

    async def _lead(self, fence: Fence) -> None:
        events = EventRecorder(
            self._client,
            component="bernstein-operator",
            instance=self.elector.identity,
            sanitise=lambda text: sanitise(text, 1000),
        )
        controllers = list(self._controllers(fence, events))
        # What the leader before wrote is seen, of all kinds: what is not listed yet is not gone.
        async with asyncio.timeout(CATCH_UP_SECONDS):  # or another replica leads
            await asyncio.gather(*(informer.catch_up() for informer in self.caches.informers))
        self.caches.jobs.add_handler(durations.observer(self._metrics))
        async with asyncio.TaskGroup() as group:
            group.create_task(events.run())
            for controller in controllers:
                group.create_task(controller.run())

    def _controllers(self, fence: Fence, events: EventRecorder) -> Iterable[Controller]:
        caches, settings, metrics = self.caches, self._settings, self._metrics

        def writer() -> Writer:
            return Writer(self._client, caches, fence, events)

        project_writer, plan_writer = writer(), writer()
        task_writer, session_writer = writer(), writer()
        projects = self._controller(
            "project",
            ProjectController(caches, project_writer, settings).reconcile,
            caches.projects.informer,
            project_writer,
        )
        projects.watch(caches.tasks.informer, self._project_of, when=relevance.starts_or_ends)
        projects.watch(caches.network_policies, controller_key("Project", GROUP))

        plans = self._controller(
            "plan",
            PlanController(caches, plan_writer, settings).reconcile,
            caches.plans.informer,
            plan_writer,
        )
        plans.watch(caches.tasks.informer, controller_key("Plan", GROUP))
        plans.watch(caches.tasks.informer, self._plans_in_conflict, when=relevance.gone)
        plans.watch(caches.projects.informer, self._plans_beside, when=relevance.project_changed)
        plans.watch(caches.sessions.informer, _plan_of, when=relevance.session_ends)
        plans.watch(caches.jobs, controller_key("Plan", GROUP))
        plans.watch(caches.pods, label_key(names.LABEL_PLAN))

        tasks = self._controller(
            "task",
            TaskController(caches, task_writer, settings, metrics).reconcile,
            caches.tasks.informer,
            task_writer,
        )
        tasks.watch(
            caches.tasks.informer,
            self._open_beside,
            when=relevance.frees_a_start,
            priority=_last,
        )
        tasks.watch(caches.tasks.informer, self._merging_beside, when=relevance.frees_a_merge)
        tasks.watch(caches.tasks.informer, self._batch_beside, when=relevance.leaves_the_line)
        tasks.watch(caches.tasks.informer, self._dependants, when=relevance.matters_downstream)
        tasks.watch(caches.plans.informer, self._tasks_of_plan, when=relevance.plan_lets_go)
        tasks.watch(caches.projects.informer, self._waiting_beside, when=relevance.project_changed)
        tasks.watch(caches.sessions.informer, controller_key("Task", GROUP))
        tasks.watch(caches.jobs, controller_key("Task", GROUP))
        tasks.watch(caches.pods, label_key(names.LABEL_TASK))

        sessions = self._controller(
            "agentsession",
            SessionController(caches, session_writer, settings, metrics).reconcile,
            caches.sessions.informer,
            session_writer,
        )
        sessions.watch(caches.jobs, controller_key("AgentSession", GROUP))
        sessions.watch(caches.pods, label_key(names.LABEL_SESSION))
        return projects, plans, tasks, sessions

    def _controller(
        self,
        name: str,
        reconcile: Callable[[Key], Awaitable[Result]],
        primary: Informer,
        writer: Writer,
    ) -> Controller:
        return Controller(
            name,
            reconcile,
            primary=primary,
            guard=writer.guard,
            workers=self._tuning.workers,
            resync=self._tuning.resync_seconds,
            observer=self._metrics,
            tell=lambda key, error: tell_failure(writer.events, primary.get(key), error),
        )

    def _project_of(self, task: Object) -> Collection[Key]:
        name = task.get("status", {}).get("project")
        return (Key(key_of(task).namespace, name),) if name else ()

    def _plans_beside(self, project: Object) -> Collection[Key]:
        return [key_of(p) for p in self.caches.plans.informer.objects(key_of(project).namespace)]

    def _plans_in_conflict(self, task: Object) -> Collection[Key]:
        """Plans that wait for a name that this Task may have had."""
        plans = self.caches.plans.informer.objects(key_of(task).namespace)
        return [
            key_of(p)
            for p in plans
            if any(
                c["reason"] == conflicts.REASON for c in p.get("status", {}).get("conditions", ())
            )
        ]

    def _tasks_of_plan(self, plan: Object) -> Collection[Key]:
        name = plan["metadata"]["name"]
        return [
            key_of(task)
            for task in self.caches.tasks.informer.objects(key_of(plan).namespace)
            if task["metadata"].get("labels", {}).get(names.LABEL_PLAN) == name and _waits(task)
        ]

    def _waiting_beside(self, changed: Object) -> Collection[Key]:
        return [*self._merging_beside(changed), *self._open_beside(changed)]

    def _open_beside(self, changed: Object) -> Collection[Key]:
        """Tasks that may start now that this one has changed."""
        tasks = self.caches.tasks.informer.objects(key_of(changed).namespace)
        return [key_of(task) for task in tasks if _is_open(task)]

    def _merging_beside(self, changed: Object) -> Collection[Key]:
        """Verified Tasks that may go on to land."""
        tasks = self.caches.tasks.informer.objects(key_of(changed).namespace)
        return [key_of(task) for task in tasks if _waits_to_land(task)]

    def _batch_beside(self, changed: Object) -> Collection[Key]:
        tasks = self.caches.tasks.informer.objects(key_of(changed).namespace)
        return [key_of(task) for task in tasks if _queue_reason(task) == "BatchWaits"]

    def _dependants(self, task: Object) -> Collection[Key]:
        """Tasks that wait for this one."""
        key = key_of(task)
        found = self.caches.tasks.informer.by_index(UPSTREAM, key.name)
        return [key_of(t) for t in found if key_of(t).namespace == key.namespace and _waits(t)]


def tell_failure(events: EventRecorder, obj: Object | None, error: Exception) -> None:
    """On the object itself: its owner does not read the operator's log."""
    if obj is None:
        return
    # A defect's own words may quote what stands in the object, such as a prompt.
    known = isinstance(error, KubeError)
    said = str(error) if known else f"{type(error).__name__}, see the operator's log"
    events.record(
        obj,
        reason="ReconcileFailed",
        message=f"the operator cannot go on with it and tries again: {said}",
        action="Reconcile",
        warning=True,
    )


def _last(_: Object | None, __: Object | None) -> Priority:
    """What waits for capacity comes after what is on its way."""
    return Priority.LOW


def _plan_of(session: Object) -> Collection[Key]:
    plan = session["spec"].get("planRef")
    return (Key(key_of(session).namespace, plan["name"]),) if plan is not None else ()


def _is_open(task: Object) -> bool:
    return bool(task.get("status", {}).get("state") == "Open")


def _waits_to_land(task: Object) -> bool:
    status = task.get("status", {})
    return status.get("state") == "Done" and bool(status.get("queue") or status.get("hold"))


def _waits(task: Object) -> bool:
    return _is_open(task) or _waits_to_land(task)


def _queue_reason(task: Object) -> str | None:
    reason: str | None = (task.get("status", {}).get("queue") or {}).get("reason")
    return reason
