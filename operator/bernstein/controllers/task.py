"""Task controller."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bernstein.api.meta import API_VERSION
from bernstein.api.session import AgentSessionSpec, PlanRef, TaskRef
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.controllers import conflicts, runs, stalls
from bernstein.controllers.caches import Caches
from bernstein.controllers.jobs.pod import owner as owner_reference
from bernstein.controllers.kinds import SESSIONS, TASKS
from bernstein.controllers.settings import Settings
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.writer import Writer
from bernstein.core import landing, names, queueing
from bernstein.core.checks import SIGNAL
from bernstein.core.errors import PROBE_SECONDS
from bernstein.core.intents import (
    CreateSession,
    Decision,
    Intent,
    StopSession,
    TaskSnapshot,
)
from bernstein.core.task import decide
from bernstein.kube.errors import NameConflict, TransportError
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object
from bernstein.observe import logging
from bernstein.observe.metrics import Metrics

log = logging.logger(__name__)

_SHARED = (None, TaskState.OPEN, TaskState.DONE)
"""States whose decisions take from what Tasks share: agents, files, the merge queue."""
_LOOK_SECONDS = 0.005


@dataclass(frozen=True)
class _Step:
    result: Result
    took: bool = False
    """An agent and files, or a place at the merge: others must see it before they decide."""


class TaskController:
    def __init__(
        self, caches: Caches, writer: Writer, settings: Settings, metrics: Metrics
    ) -> None:
        self._caches = caches
        self._writer = writer
        self._settings = settings
        self._metrics = metrics
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def reconcile(self, key: Key) -> Result:
        task = self._caches.tasks.get(key)
        if task is None:
            return Result()
        if task.status.state not in _SHARED:
            return (await self._step(key)).result
        async with self._locks[key.namespace]:
            try:
                step = await self._step(key)
            except TransportError:
                # It may have taken something all the same.
                await self._caches.tasks.informer.refresh(key)
                raise
            # The next decision in this namespace must see what this one took.
            while step.took:
                wait = await self._writer.guard.settle(key)
                if not wait:
                    break
                await asyncio.sleep(min(wait, _LOOK_SECONDS))
            return step.result

    async def _step(self, key: Key) -> _Step:
        now = datetime.now(UTC)
        obj = self._caches.tasks.informer.get(key)
        snapshot = await task_snapshot(self._caches, key, now)
        if snapshot is None or obj is None:
            return _Step(Result())
        if snapshot.task.metadata.deletion_timestamp is not None:
            return _Step(Result())
        decision = decide(snapshot, now)
        status, again = conflicts.resolved(decision.status, now), decision.requeue_after
        try:
            for intent in decision.intents:
                await self._execute(key, snapshot, decision, intent)
        except NameConflict as conflict:
            text, meta = conflicts.describe(conflict), snapshot.task.metadata
            status = conflicts.stalled(snapshot.task.status, text, meta.generation, now)
            again = PROBE_SECONDS
        written = await self._writer.status(key, TASKS, obj, status.dump())
        if written:
            self._tell(key, obj, snapshot, status, now)
        return _Step(Result(again), written and _takes(snapshot.task.status, status))

    async def _execute(
        self, key: Key, snapshot: TaskSnapshot, decision: Decision, intent: Intent
    ) -> None:
        match intent:
            case CreateSession():
                session = _session(snapshot, decision.status, intent)
                await self._writer.create(key, SESSIONS, session)
            case StopSession(reason):
                if snapshot.session is not None and snapshot.session.spec.stop is None:
                    body = {"spec": {"stop": {"reason": reason}}}
                    name = snapshot.session.metadata.name
                    await self._writer.merge(key, SESSIONS, name, body)
            case _:
                meta = snapshot.task.metadata
                await runs.execute(
                    intent,
                    key=key,
                    project=snapshot.project,
                    owner=owner_reference("Task", meta.name, meta.uid),
                    caches=self._caches,
                    writer=self._writer,
                    settings=self._settings,
                )

    def _tell(
        self,
        key: Key,
        obj: Object,
        snapshot: TaskSnapshot,
        new: TaskStatus,
        now: datetime,
    ) -> None:
        old = snapshot.task.status
        self._count(key, snapshot, new, now)
        if new.state != old.state and new.state is not None:
            self._metrics.task_moved(key.namespace, new.state)
            last = new.history[-1] if new.history else None
            why = last.reason if last is not None else str(new.state)
            meta = snapshot.task.metadata
            log.info(
                "task moved",
                uid=meta.uid,
                attempt=new.attempt,
                plan=meta.labels.get(names.LABEL_PLAN),
                before=old.state,
                after=new.state,
                reason=why,
            )
            self._writer.events.record(
                obj,
                reason=str(new.state),
                message=f"{old.state or 'New'} -> {new.state}: {why}",
                action="Move",
                warning=new.state in (TaskState.FAILED, TaskState.ORPHANED),
            )
        stalls.tell(
            self._writer,
            "task",
            obj,
            old.conditions,
            new.conditions,
            uid=snapshot.task.metadata.uid,
            attempt=new.attempt,
        )

    def _count(self, key: Key, snapshot: TaskSnapshot, new: TaskStatus, now: datetime) -> None:
        old = snapshot.task.status
        judged, before = new.verification, old.verification
        if judged is not None and judged.checks and (not before or before.checks != judged.checks):
            signals = snapshot.task.spec.completion_signals
            for check in judged.checks:
                if check.kind == "gate":
                    self._metrics.gate_verdict(check.name, check.verdict)
                else:
                    kind = signals[int(check.name.removeprefix(SIGNAL))].type
                    self._metrics.signal_verdict(kind, check.verdict)
            if judged.passed is not None:
                self._metrics.verified(key.namespace, first=new.attempt == 1, passed=judged.passed)
        state = new.delivery.state if new.delivery else None
        if state not in (None, "None", "Pending") and state != (
            old.delivery.state if old.delivery else None
        ):
            self._metrics.merge_finished(key.namespace, str(state))
        created = snapshot.task.metadata.creation_timestamp
        if new.state is TaskState.CLOSED and old.state is not TaskState.CLOSED and created:
            self._metrics.task_closed(key.namespace, (now - created).total_seconds())


def _takes(old: TaskStatus, new: TaskStatus) -> bool:
    step = new.delivery.step if new.delivery is not None else None
    before = old.delivery.step if old.delivery is not None else None
    return step != before or (new.state is TaskState.CLAIMED and old.state is not new.state)


def _session(snapshot: TaskSnapshot, status: TaskStatus, intent: CreateSession) -> dict[str, Any]:
    """The AgentSession object of the Task's next run."""
    task, project, plan = snapshot.task, snapshot.project, snapshot.plan
    assert project is not None
    agent = project.spec.agent(task.spec.cli)
    assert agent is not None
    route = queueing.route_of(snapshot)
    meta = task.metadata
    spec = AgentSessionSpec(
        task_ref=TaskRef(name=meta.name, uid=meta.uid),
        plan_ref=PlanRef(name=plan.metadata.name, uid=plan.metadata.uid) if plan else None,
        project=project.metadata.name,
        attempt=status.attempt + 1,
        number=intent.number,
        agent=agent.name,
        adapter=agent.adapter,
        model=route.model,
        effort=route.effort,
        base_ref=landing.ref_of(snapshot),
        work_ref=names.work_ref(landing.owner_uid(snapshot), meta.name, intent.number),
        resume_ref=status.checkpoint,
        timeout_seconds=queueing.timeout_seconds(task, project),
    )
    labels = {names.LABEL_TASK: names.bounded(meta.name)}
    if names.LABEL_PLAN in meta.labels:
        labels[names.LABEL_PLAN] = meta.labels[names.LABEL_PLAN]
    return {
        "apiVersion": API_VERSION,
        "kind": "AgentSession",
        "metadata": {
            "name": names.session(meta.name, intent.number),
            "namespace": meta.namespace,
            "labels": labels,
            "ownerReferences": [owner_reference("Task", meta.name, meta.uid)],
            "finalizers": [names.RESULT_FINALIZER],
        },
        "spec": spec.dump(),
    }
