"""Reconciles Tasks: makes and stops their sessions, runs their Jobs, writes their status."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar

from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.controllers import conflicts, job_actions, stalls, verdict_metrics
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.tasks.watches import watches
from bernstein.controllers.wiring import Context, KindController, Watch
from bernstein.core import owners
from bernstein.core.actions import CreateSession, StopSession, TaskAction
from bernstein.core.owners import owner_reference
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.decide import decide
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object
from bernstein.observe import logging
from bernstein.resources import SESSIONS, TASKS

log = logging.logger(__name__)

_SHARED = (None, TaskState.OPEN, TaskState.DONE)
"""States in which a decision may take what Tasks share: agents, files, a place to land."""
_LOOK_SECONDS = 0.005
"""Between two looks whether the cache shows a write."""


@dataclass(frozen=True)
class _Step:
    result: Result
    took: bool = False
    """It took an agent and files, or a place to land: others must see that before they decide."""


class TaskController(KindController):
    NAME: ClassVar[str] = "task"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._takers: dict[str, Key] = {}
        """The Task of each namespace that took last, or may have: its step failed midway."""

    @property
    def primary(self) -> Informer:
        return self._caches.tasks.informer

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    async def reconcile(self, key: Key) -> Result:
        task = self._caches.tasks.get(key)
        if task is None:
            return Result()
        if task.status.state not in _SHARED:
            return (await self._step(key)).result
        async with self._locks[key.namespace]:
            await self._settle(key.namespace)
            # Whatever becomes of this step: until it is over, it may have taken something.
            self._takers[key.namespace] = key
            step = await self._step(key)
            if not step.took:
                del self._takers[key.namespace]
            return step.result

    async def _settle(self, namespace: str) -> None:
        """Waits until the caches show what the last decision in this namespace took.

        Raises KubeError when that cannot be found out; then nobody may decide.
        """
        taker = self._takers.get(namespace)
        if taker is None:
            return
        while wait := await self._writer.guard.settle(taker):  # noqa: ASYNC110 - an informer does it
            await asyncio.sleep(min(wait, _LOOK_SECONDS))
        del self._takers[namespace]

    async def _step(self, key: Key) -> _Step:
        now = datetime.now(UTC)
        obj = self._caches.tasks.informer.get(key)
        snapshot = await task_snapshot(self._caches, key, now)
        if snapshot is None or obj is None:
            return _Step(Result())
        if snapshot.task.metadata.deletion_timestamp is not None:
            return _Step(Result())
        status, again = await conflicts.carry_out(
            snapshot, decide, partial(self._execute, key), now, before=snapshot.status
        )
        written = await self._writer.status(key, TASKS, obj, status.dump())
        if written:
            self._tell(key, obj, snapshot, status, now)
        return _Step(Result(again), written and _takes(snapshot.task.status, status))

    async def _execute(self, key: Key, snapshot: TaskSnapshot, action: TaskAction) -> None:
        match action:
            case CreateSession(session):
                await self._writer.create(key, SESSIONS, session)
            case StopSession(reason):
                if snapshot.session is not None and snapshot.session.spec.stop is None:
                    body = {"spec": {"stop": {"reason": reason}}}
                    name = snapshot.session.metadata.name
                    await self._writer.merge(key, SESSIONS, name, body)
            case _:
                meta = snapshot.task.metadata
                owner = owner_reference(TASKS.kind, meta.name, meta.uid)
                await job_actions.execute(action, key, snapshot.project, owner, self._context)

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
            meta, plan = snapshot.task.metadata, owners.plan_of(snapshot.task)
            log.info(
                "task moved",
                uid=meta.uid,
                attempt=new.attempt,
                plan=plan.name if plan is not None else None,
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
        verdict_metrics.count(
            self._metrics,
            key.namespace,
            "Task",
            old,
            new,
            attempt="first" if new.attempt == 1 else "later",
            signals=snapshot.task.spec.completion_signals,
        )
        created = snapshot.task.metadata.creation_timestamp
        if new.state is TaskState.CLOSED and old.state is not TaskState.CLOSED and created:
            self._metrics.task_closed(key.namespace, (now - created).total_seconds())


def _takes(old: TaskStatus, new: TaskStatus) -> bool:
    """Whether this is a claim or a step of a landing: others must see it before they decide."""
    step = new.delivery.step if new.delivery is not None else None
    before = old.delivery.step if old.delivery is not None else None
    return step != before or (new.state is TaskState.CLAIMED and old.state is not new.state)
