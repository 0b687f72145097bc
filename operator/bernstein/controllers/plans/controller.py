"""Reconciles Plans: makes and cancels their Tasks, runs their Jobs, writes their status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import ClassVar

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.projects.workplace import Workplace, at
from bernstein.api.task import Output
from bernstein.controllers import execution, job_actions, plan_tasks
from bernstein.controllers.approvals import telling as decisions
from bernstein.controllers.events import refusals, stalls
from bernstein.controllers.events.losses import Losses
from bernstein.controllers.metrics import verdicts, waits
from bernstein.controllers.plans.watches import pause_after_tally, watches
from bernstein.controllers.snapshots import plan_snapshot
from bernstein.controllers.wiring import Context, KindController, Watch
from bernstein.core import progress
from bernstein.core.actions import (
    AskTask,
    CancelTasks,
    CreateApproval,
    CreateTasks,
    InRepository,
    JobAction,
    PlanAction,
    RunBegin,
)
from bernstein.core.documents.values import Json
from bernstein.core.owners import owner_reference
from bernstein.core.plans.decide import decide, look_ahead
from bernstein.core.plans.nodes import endings
from bernstein.core.plans.places import view
from bernstein.core.plans.standstill import stopped
from bernstein.core.projects import repositories
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.expected import plan as verification
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object, Resource
from bernstein.observe import logging
from bernstein.resources import PLANS, TASKS

log = logging.logger(__name__)

MANY_TASKS = 100
"""To reckon what more of them come to is a step of its own."""


class PlanController(KindController):
    NAME: ClassVar[str] = "plan"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._losses = Losses()

    @property
    def primary(self) -> Informer:
        return self._caches.plans.informer

    def rests_on(self, key: Key) -> Iterable[tuple[Resource, Key]]:
        return ((PLANS, key),)

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    def pause(self, old: Object | None, new: Object | None) -> float:
        return pause_after_tally(old, new)

    async def reconcile(self, key: Key) -> Result:
        obj = self._caches.plans.informer.get(key)
        if obj is None:
            return Result()
        now = self._context.now()
        snapshot = await self._look(self._caches.plans.of(obj), now)
        late = job_actions.late_requests(self._context, key.namespace)
        there = (row.verification for row in snapshot.status.repositories)
        judged = snapshot.status.verification
        known = await self._verdicts_for(snapshot.project, judged, *there)
        outputs = await self._outputs(key, obj, snapshot)
        self._losses.tell(self._writer, obj, snapshot)
        snapshot = replace(snapshot, late=late, gate_cache=known, outputs=outputs)
        status, again = await execution.carry_out(
            snapshot,
            decide,
            partial(self._execute, key),
            now,
            before=partial(stopped, snapshot),
            has_ended=snapshot.status.ended_at is not None,
            tell=partial(progress.of_plan, snapshot.plan),
        )
        if await self._writer.status(key, PLANS, obj, status.dump()):
            self._tell(key, obj, snapshot, status)
            refusals.tell(self._writer, obj, snapshot.status, status)
            waits.count(self._metrics, key.namespace, "Plan", snapshot.status, status, now)
            decisions.count(self._metrics, key.namespace, "Plan", snapshot.status, status)
        return Result(again)

    async def _outputs(self, key: Key, obj: Object, snapshot: PlanSnapshot) -> Mapping[str, Json]:
        """The values on which something is to be decided now."""
        wanted, reads = endings.outputs(snapshot), self._context.outputs
        if not wanted or reads is None:
            return {left.sha256: None for left in wanted}

        def lost(left: Output) -> None:
            self._writer.events.record(
                obj,
                reason="OutputLost",
                message=f"the output of session '{left.session}' is lost: conditions take it as "
                "null",
                action="Decide",
                warning=True,
            )

        return await reads.of(key.namespace, wanted, lost)

    async def _look(self, plan: Plan, now: datetime) -> PlanSnapshot:
        """What is to be decided about. A large Plan is gone through in pieces, so that nothing else
        has to wait for all of it."""
        snapshot = await plan_snapshot(self._caches, plan, now)
        if len(snapshot.tasks) > MANY_TASKS:
            await self._context.clock.sleep(0)
        for ahead in look_ahead(snapshot, now):
            snapshot = ahead
            await self._context.clock.sleep(0)
        return snapshot

    async def _execute(self, key: Key, snapshot: PlanSnapshot, action: PlanAction) -> None:
        match action:
            case CreateTasks() | CancelTasks():
                await plan_tasks.change(action, key, self._context)
            case CreateApproval(approval):
                await self._writer.ask(key, approval)
            case AskTask(name, version, requests):
                asks: Object = {
                    "metadata": {"resourceVersion": version},
                    "spec": {"requests": [request.dump() for request in requests]},
                }
                await self._writer.merge(key, TASKS, name, asks)
            case InRepository(name, there) if snapshot.project is not None:
                await self._run(key, snapshot, there, at(snapshot.project, name))
            case InRepository():
                raise AssertionError("nothing is made without a Project")
            case _:
                its = repositories.place_of_plan(snapshot.plan, snapshot.project)
                await self._run(key, snapshot, action, its)

    async def _run(
        self,
        key: Key,
        snapshot: PlanSnapshot,
        action: RunBegin | JobAction,
        its: Workplace | None,
    ) -> None:
        meta = snapshot.plan.metadata
        owner = owner_reference(PLANS.kind, meta.name, meta.uid)
        await job_actions.execute(action, key, its, owner, self._context)

    def _tell(self, key: Key, obj: Object, snapshot: PlanSnapshot, new: PlanStatus) -> None:
        old, uid = snapshot.plan.status, snapshot.plan.metadata.uid
        verdicts.count_answers(self._metrics, key.namespace, "Plan", old, new)
        for there, was, its in view.each(snapshot, old, new):
            verdicts.count(
                self._metrics,
                key.namespace,
                "Plan",
                was,
                its,
                attempt="plan",
                signals=partial(verification.signals_of, there),
                project=partial(repositories.place_of_plan, there.plan, there.project),
            )
        if new.phase != old.phase and new.phase is not None:
            log.info("plan moved", uid=uid, before=old.phase, after=new.phase)
            done = f"{new.counts.closed}/{new.counts.total} Tasks closed"
            self._writer.events.record(
                obj,
                reason=new.phase,
                message=f"{old.phase or 'New'} -> {new.phase}, {done}",
                action="Move",
            )
        stalls.tell(self._writer, "plan", obj, old, new, judged=new.verification, uid=uid)
