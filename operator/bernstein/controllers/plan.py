"""Plan controller."""

from __future__ import annotations

from datetime import UTC, datetime
from graphlib import TopologicalSorter

from bernstein.api.plan import PlanStatus
from bernstein.controllers import conflicts, runs, stalls
from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.pod import owner as owner_reference
from bernstein.controllers.kinds import PLANS, TASKS
from bernstein.controllers.settings import Settings
from bernstein.controllers.snapshots import plan_snapshot
from bernstein.controllers.writer import Writer
from bernstein.core.errors import PROBE_SECONDS
from bernstein.core.intents import CancelTasks, CreateTasks, PlanIntent, PlanSnapshot
from bernstein.core.plan import decide, tally
from bernstein.kube.errors import NameConflict
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object, controller_of
from bernstein.observe import logging

log = logging.logger(__name__)


class PlanController:
    def __init__(self, caches: Caches, writer: Writer, settings: Settings) -> None:
        self._caches = caches
        self._writer = writer
        self._settings = settings

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.plans.informer.get(key)
        if obj is None:
            return Result()
        now = datetime.now(UTC)
        snapshot = await plan_snapshot(self._caches, self._caches.plans.of(obj), now)
        decision = decide(snapshot, now)
        status, again = conflicts.resolved(decision.status, now), decision.requeue_after
        try:
            for intent in decision.intents:
                await self._execute(key, snapshot, intent)
        except NameConflict as conflict:
            text, meta = conflicts.describe(conflict), snapshot.plan.metadata
            before = tally(snapshot).model_copy(update={"phase": "Stalled"})
            status = conflicts.stalled(before, text, meta.generation, now)
            again = PROBE_SECONDS
        if await self._writer.status(key, PLANS, obj, status.dump()):
            self._tell(obj, snapshot, status)
        return Result(again)

    async def _execute(self, key: Key, snapshot: PlanSnapshot, intent: PlanIntent) -> None:
        match intent:
            case CreateTasks(objects):
                await self._create_tasks(key, objects)
            case CancelTasks(names, reason):
                for name in names:
                    body = {"spec": {"cancel": {"reason": reason}}}
                    await self._writer.merge(key, TASKS, name, body)
            case _:
                meta = snapshot.plan.metadata
                await runs.execute(
                    intent,
                    key=key,
                    project=snapshot.project,
                    owner=owner_reference("Plan", meta.name, meta.uid),
                    caches=self._caches,
                    writer=self._writer,
                    settings=self._settings,
                )

    async def _create_tasks(self, key: Key, objects: tuple[Object, ...]) -> None:
        """All of them or, where a name is taken, none as far as the cache knows."""
        for task in objects:
            live = self._caches.tasks.informer.get(Key(key.namespace, task["metadata"]["name"]))
            if live is not None and _owner_uid(live) != _owner_uid(task):
                raise NameConflict("the name is taken", live=live, differs="owner")
        for task in _upstream_first(objects):
            await self._writer.create(key, TASKS, task)

    def _tell(self, obj: Object, snapshot: PlanSnapshot, new: PlanStatus) -> None:
        old, uid = snapshot.plan.status, snapshot.plan.metadata.uid
        if new.phase != old.phase and new.phase is not None:
            log.info("plan moved", uid=uid, before=old.phase, after=new.phase)
            done = f"{new.counts.closed}/{new.counts.total} Tasks closed"
            self._writer.events.record(
                obj,
                reason=new.phase,
                message=f"{old.phase or 'New'} -> {new.phase}, {done}",
                action="Move",
            )
        stalls.tell(self._writer, "plan", obj, old.conditions, new.conditions, uid=uid)


def _owner_uid(task: Object) -> str | None:
    return (controller_of(task) or {}).get("uid")


def _upstream_first(tasks: tuple[Object, ...]) -> list[Object]:
    """In an order in which every Task is made, and so seen, after those that it depends on."""
    by_name = {task["metadata"]["name"]: task for task in tasks}
    graph = {name: task["spec"].get("dependsOn", ()) for name, task in by_name.items()}
    order = TopologicalSorter(graph).static_order()
    return [by_name[name] for name in order if name in by_name]
