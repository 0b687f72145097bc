"""Reconciles Tasks: makes and stops their sessions, runs their Jobs, writes their status.

When a Task starts, and when its turn to land has come, says the scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from bernstein.controllers import execution, job_actions, plan_tasks
from bernstein.controllers.caches.indexes import UPSTREAM
from bernstein.controllers.job_views import OWNER
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.tasks.telling import tell
from bernstein.controllers.tasks.watches import watches
from bernstein.controllers.wiring import KindController, Watch
from bernstein.core import labels, names, progress
from bernstein.core.actions import (
    CancelTasks,
    CreateApproval,
    CreatePlan,
    CreateSession,
    CreateTasks,
    DeleteSession,
    DeleteTask,
    StopSession,
    TaskAction,
)
from bernstein.core.documents import SUBTASKS
from bernstein.core.fsm import is_final
from bernstein.core.owners import owner_reference
from bernstein.core.snapshot import Handed, TaskSnapshot
from bernstein.core.tasks import closed, produced
from bernstein.core.tasks.decide import decide, is_left_to_schedule
from bernstein.core.tasks.parts import subtasks
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Due, Result
from bernstein.kube.resource import Key, Resource
from bernstein.resources import SESSIONS, TASKS


class TaskController(KindController):
    NAME: ClassVar[str] = "task"

    @property
    def primary(self) -> Informer:
        return self._caches.tasks.informer

    def rests_on(self, key: Key) -> Iterable[tuple[Resource, Key]]:
        return ((TASKS, key),)

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    def first_look(self) -> Due:
        caches, known = self._caches, self._caches.first_look.take_tasks()

        def due(key: Key) -> float:
            task = known.get(key)
            if task is None or task.revision != caches.tasks.informer.revision_shown(key):
                return 0.0
            plan = Key(key.namespace, task.ended.plan) if task.ended.plan is not None else None
            around = closed.Around(
                projects=caches.projects.going(key.namespace),
                plan=caches.plans.get(plan) if plan is not None else None,
                sessions=len(caches.sessions.informer.index_keys(OWNER, task.uid)),
                has_jobs=caches.job_views.knows_any(task.uid),
                has_dependants=bool(caches.tasks.informer.index_keys(UPSTREAM, key.name)),
            )
            return closed.seconds_left(task.ended, around, self._context.now())

        return due

    async def reconcile(self, key: Key) -> Result:
        now = self._context.now()
        obj = self._caches.tasks.informer.get(key)
        snapshot = await task_snapshot(self._caches, key, now)
        if snapshot is None or obj is None or is_left_to_schedule(snapshot):
            return Result()
        late = job_actions.late_requests(self._context, key.namespace)
        late_claim = self._writer.guard.is_new and self._context.claims.is_late(snapshot.task)
        known = await self._verdicts_for(snapshot.project, snapshot.status.verification)
        snapshot = replace(snapshot, late=late, late_claim=late_claim, gate_cache=known)
        snapshot = replace(snapshot, plan_file=await self._plan_file(snapshot))
        if (needed := subtasks.needed(snapshot)) is not None:
            snapshot = replace(snapshot, handed=await self._left(key, *needed))
        status, again = await execution.carry_out(
            snapshot,
            decide,
            partial(self._execute, key),
            now,
            before=lambda: snapshot.status,
            has_ended=is_final(snapshot.status, snapshot.task.spec.max_retries),
            tell=partial(progress.of_task, snapshot.task),
        )
        if await self._writer.status(key, TASKS, obj, status.dump()):
            tell(self._context, obj, snapshot.task, status, now)
        return Result(again)

    async def _plan_file(self, snapshot: TaskSnapshot) -> bytes | None:
        """That of its session, where it is to be decided about. Raises KubeError."""
        left, session = produced.awaited(snapshot), snapshot.session
        if left is None or session is None:
            return None
        meta = session.metadata
        return await self._context.documents.read(meta.namespace, meta.name, left.name, left.sha256)

    async def _left(self, key: Key, session: str, sha256: str) -> Handed:
        """The subtasks that a session has left. Raises KubeError: it is asked again."""
        documents = self._context.documents
        return Handed(await documents.read(key.namespace, session, SUBTASKS.name, sha256))

    async def _execute(self, key: Key, snapshot: TaskSnapshot, action: TaskAction) -> None:
        match action:
            case CreateSession(session):
                name = session["metadata"]["name"]
                with job_actions.refusable(SESSIONS, name, key, self._context):
                    await self._writer.create(key, SESSIONS, session)
            case CreatePlan(plan):
                await self._writer.produce(key, plan)
            case CreateApproval(approval):
                await self._writer.ask(key, approval)
            case DeleteTask():
                # As it was decided about: a person may have had it run again meanwhile.
                await self._writer.delete_unchanged(key, TASKS, snapshot.task.metadata)
            case DeleteSession(session):
                await self._writer.delete_unchanged(key, SESSIONS, session.metadata)
            case CreateTasks() | CancelTasks():
                await plan_tasks.change(action, key, self._context)
            case StopSession(reason):
                if snapshot.session is not None and snapshot.session.spec.stop is None:
                    body = {"spec": {"stop": {"reason": reason}}}
                    name = snapshot.session.metadata.name
                    await self._writer.merge(key, SESSIONS, name, body)
            case _:
                meta = snapshot.task.metadata
                owner = owner_reference(TASKS.kind, meta.name, meta.uid)
                await job_actions.execute(
                    action, key, snapshot.project, owner, self._context, _also_for(snapshot)
                )


def _also_for(snapshot: TaskSnapshot) -> dict[str, str]:
    """Labels of a Job of this Task that name its Plan, and the session whose work it is about."""
    plan, session = snapshot.plan, snapshot.status.session
    named = {} if plan is None else {labels.PLAN: names.label_value(plan.metadata.name)}
    return named if session is None else named | {labels.SESSION: session}
