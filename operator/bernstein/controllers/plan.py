"""Plan controller."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.controllers import runs
from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.pod import owner as owner_reference
from bernstein.controllers.kinds import PLANS, TASKS
from bernstein.controllers.settings import Settings
from bernstein.controllers.snapshots import plan_snapshot
from bernstein.controllers.writer import Writer
from bernstein.core import conditions
from bernstein.core.intents import CancelTasks, CreateTasks, PlanDecision, PlanIntent, PlanSnapshot
from bernstein.core.plan import decide
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object


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
        for intent in decision.intents:
            await self._execute(key, snapshot, intent)
        if await self._writer.status(key, PLANS, obj, decision.status.dump()):
            self._tell(obj, snapshot, decision)
        return Result(decision.requeue_after)

    async def _execute(self, key: Key, snapshot: PlanSnapshot, intent: PlanIntent) -> None:
        match intent:
            case CreateTasks(objects):
                for task in objects:
                    await self._writer.create(key, TASKS, task)
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
                    writer=self._writer,
                    settings=self._settings,
                )

    def _tell(self, obj: Object, snapshot: PlanSnapshot, decision: PlanDecision) -> None:
        old, new = snapshot.plan.status, decision.status
        if new.phase != old.phase and new.phase is not None:
            done = f"{new.counts.closed}/{new.counts.total} Tasks closed"
            self._writer.events.record(
                obj,
                reason=new.phase,
                message=f"{old.phase or 'New'} -> {new.phase}, {done}",
                action="Move",
            )
        stall = conditions.find(new.conditions, "Stalled")
        if stall is not None and stall != conditions.find(old.conditions, "Stalled"):
            self._writer.events.record(
                obj, reason=stall.reason, message=stall.message, action="Stall", warning=True
            )
