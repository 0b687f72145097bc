"""Everything that acts, put together: caches on every replica, controllers on the leader."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bernstein.controllers.approvals.controller import ApprovalController
from bernstein.controllers.caches import Caches
from bernstein.controllers.claims import Claims
from bernstein.controllers.documents import DocumentReader
from bernstein.controllers.gate_caches import GateCaches
from bernstein.controllers.logs.reader import LogReader
from bernstein.controllers.metrics import forge, jobs
from bernstein.controllers.plans.controller import PlanController
from bernstein.controllers.plans.outputs import Outputs
from bernstein.controllers.projects.controller import ProjectController
from bernstein.controllers.roles.controller import RoleController
from bernstein.controllers.scheduler.controller import SchedulerController
from bernstein.controllers.sessions.controller import SessionController
from bernstein.controllers.sessions.knowledge import KnowledgeReader
from bernstein.controllers.settings import OperatorSettings
from bernstein.controllers.tasks.controller import TaskController
from bernstein.controllers.wiring import Context, KindController
from bernstein.controllers.writer import Writer
from bernstein.core.sanitise import text as sanitise
from bernstein.kube.client import Client
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.errors import KubeError, LostLeadership
from bernstein.kube.events import EventRecorder
from bernstein.kube.informer import Informer
from bernstein.kube.lease import Elector, Fence
from bernstein.kube.reconcile import Controller
from bernstein.kube.resource import Object, uid_of
from bernstein.observe import logging
from bernstein.observe.metrics import Metrics

if TYPE_CHECKING:
    from bernstein.controllers.traces.collector import Collector

log = logging.logger(__name__)

CONTROLLERS: tuple[type[KindController], ...] = (
    ProjectController,
    PlanController,
    SchedulerController,
    TaskController,
    SessionController,
    ApprovalController,
    RoleController,
)
LEASE = "bernstein-operator"
LEASE_SECONDS = 15.0
"""A leader that is gone without a word is missed for so long."""
CATCH_UP_SECONDS = 60.0
"""A new leader whose caches do not catch up in this time gives up its leadership."""


@dataclass(frozen=True)
class Tuning:
    """How hard each controller works, and how soon another replica takes over."""

    workers: int = 4
    resync_seconds: float = 600.0
    lease_seconds: float = LEASE_SECONDS


class Engine:
    """One replica's work. `run` ends when `stop` is set, or raises LostLeadership."""

    def __init__(
        self,
        client: Client,
        *,
        namespace: str,
        settings: OperatorSettings,
        metrics: Metrics,
        lease: str = LEASE,
        identity: str | None = None,
        watch: list[str] | None = None,
        tuning: Tuning | None = None,
        clock: Clock = REAL,
        collector: Collector | None = None,
    ) -> None:
        """`collector`: who takes spans of what has ended; None: there are no traces."""
        self._client = client
        self._settings = settings
        self._collector = collector
        self._metrics = metrics
        self._tuning = tuning or Tuning()
        self._clock = clock
        self.caches = Caches(client, watch, observer=metrics, clock=clock)
        lasts = self._tuning.lease_seconds
        self.elector = Elector(
            client,
            namespace=namespace,
            name=lease,
            identity=identity,
            observer=metrics,
            clock=clock,
            duration=lasts,
            renew_deadline=lasts * 2 / 3,
            retry_period=lasts * 2 / 15,
        )

    def not_ready(self) -> str | None:
        """What keeps this replica from taking over, in plain words."""
        behind = [i.resource.plural for i in self.caches.informers if not i.has_synced]
        return f"caches are not filled yet: {', '.join(behind)}" if behind else None

    async def run(self, stop: asyncio.Event) -> None:
        """Watches always, acts while it leads."""
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(self._watch(i)) for i in self.caches.informers]
            try:
                await self.elector.run(self._lead, stop=stop)
            finally:
                for task in watching:
                    task.cancel()

    async def _watch(self, informer: Informer) -> None:
        """What is listed once the Lease is held need not be listed again for it."""
        await self.elector.asked.wait()
        await informer.run()

    async def _lead(self, fence: Fence) -> None:
        events = EventRecorder(
            self._client,
            component="bernstein-operator",
            instance=self.elector.identity,
            sanitise=lambda text: sanitise(text, 1000),
            clock=self._clock,
        )
        logs = LogReader(self._client, self._clock)
        # Caches first hold all that the leader before wrote: what they lack would count as gone.
        async with asyncio.timeout(CATCH_UP_SECONDS):  # else another replica leads
            since = self.elector.acquired_at
            await asyncio.gather(*(each.catch_up(since) for each in self.caches.informers))
        controllers = []
        claims = Claims(map(self.caches.tasks.of, self.caches.tasks.informer.going()))
        self.caches.tasks.informer.add_handler(claims.task_changed)
        verdicts = GateCaches(
            self._client, fence, self._settings.image, self._project_uids, self._clock
        )
        for kind in CONTROLLERS:
            controllers.append(self._controller(kind, fence, events, logs, claims, verdicts))
            await self._clock.sleep(0)  # each has heard of all that goes on
        self.caches.jobs.add_handler(jobs.observer(self._metrics))
        of_forge = forge.observer(self._metrics, self.caches.projects.get)
        self.caches.pods.add_handler(of_forge)
        with self._metrics.population(
            tasks=self.caches.tasks_there,
            sessions=self.caches.sessions_there,
            plans=self.caches.plans_there,
            approvals=self.caches.approvals_there,
            projects=self.caches.projects_there,
            allowances=self.caches.allowances,
            budgets=self.caches.budgets,
            heard=self.caches.heard,
        ):
            beside = [events.run(), logs.run(), verdicts.run(), *self._traces()]
            await self._work(controllers, *beside)

    def _traces(self) -> list[Coroutine[Any, Any, None]]:
        """What has them made and sent; it is loaded where somebody takes them."""
        if self._collector is None:
            return []
        from bernstein.controllers.traces.tracer import Tracer

        return [Tracer(self.caches, self._collector, self._metrics, self._clock).run()]

    def _project_uids(self) -> set[str]:
        return {*map(uid_of, self.caches.projects.informer.objects())}

    async def _work(
        self, controllers: list[Controller], *beside: Coroutine[Any, Any, None]
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for each in beside:
                group.create_task(each)
            for controller in controllers:
                group.create_task(controller.run())

    def _controller(
        self,
        kind: type[KindController],
        fence: Fence,
        events: EventRecorder,
        logs: LogReader,
        claims: Claims,
        verdicts: GateCaches,
    ) -> Controller:
        leader, clock = self.elector.identity, self._clock
        writer = Writer(self._client, self.caches, fence, events, clock, leader=leader)
        documents = DocumentReader(self._client)
        known = self._settings, self._metrics, logs, documents, clock, claims, verdicts
        knowledge, outputs = KnowledgeReader(self._client), Outputs(documents)
        subject = kind(Context(self.caches, writer, *known, knowledge=knowledge, outputs=outputs))
        writer.guard.begin(subject.rests_on)
        primary = subject.primary
        controller = Controller(
            kind.NAME,
            subject.reconcile,
            primary=primary,
            guard=writer.guard,
            workers=self._tuning.workers,
            resync=self._tuning.resync_seconds,
            observer=self._metrics,
            matters=subject.matters,
            begin=subject.begin,
            first_look=subject.first_look,
            tell=lambda key, error: tell_failure(events, primary.get(key), error),
            clock=self._clock,
            pause=subject.pause,
        )
        for watch in subject.watches():
            controller.watch(
                watch.informer,
                watch.keys,
                when=watch.when,
                priority=watch.priority,
                pause=watch.pause,
            )
        return controller


def tell_failure(events: EventRecorder, obj: Object | None, error: Exception) -> None:
    """An Event on the object: whoever owns it does not read the operator's log."""
    if obj is None:
        return
    # The message of a defect may quote the object, with a prompt in it.
    cause = f"{type(error).__name__}, see the operator's log"
    if isinstance(error, KubeError):
        cause = error.gist
    events.record(
        obj,
        reason="ReconcileFailed",
        message=f"the operator cannot go on with it and tries again: {cause}",
        action="Reconcile",
        warning=True,
    )


async def failures_of(engine: Engine, stop: asyncio.Event) -> list[BaseException]:
    """Runs the engine until `stop` is set, or it ends; logs what it failed with, and returns it."""
    failures: list[BaseException] = []
    try:
        await engine.run(stop)
    except* LostLeadership as lost:
        # Nothing is broken: another replica leads, and the next process waits for its turn.
        failures.append(lost)
        text = _first(lost)
        log.error("leadership is lost, this process ends", message=text)  # noqa: TRY400
    except* BaseException as error:
        failures.append(error)
        log.exception("the engine ended")
    return failures


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)
