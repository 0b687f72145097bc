"""Schedules each Project: hands out agents, files and turns to land, and says who waits for what.

One reconcile decides for all Tasks of a Project, so nothing is handed out twice. A write whose
answer is lost counts as made: before the Project is scheduled again, the guard reads what became of
it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.task import Task, TaskStatus
from bernstein.controllers.predicates import project_matters
from bernstein.controllers.scheduler.boards import Boards
from bernstein.controllers.scheduler.unanswered import Unanswered
from bernstein.controllers.scheduler.watches import watches
from bernstein.controllers.snapshots import task_snapshot
from bernstein.controllers.tasks.telling import tell
from bernstein.controllers.wiring import Context, KindController, Watch
from bernstein.controllers.writer import REFUSED_SECONDS
from bernstein.core.delivery.landing import step_of
from bernstein.core.tasks.decide import decide
from bernstein.kube.errors import (
    ApiError,
    Conflict,
    KubeError,
    NotFound,
    is_refusal,
    is_unanswered,
    seconds_asked,
)
from bernstein.kube.informer import Informer
from bernstein.kube.reconcile import Result
from bernstein.kube.resource import Key, Object, Resource, key_of
from bernstein.observe import logging
from bernstein.resources import PLANS, TASKS

log = logging.logger(__name__)

MOST_PIECES = 500
"""That a look is made in. Whatever comes meanwhile makes more, and could go on for ever: then the
rest is looked at in one piece. 10,000 in line that are left alone are less."""


@dataclass(frozen=True)
class _Write:
    obj: Object
    """The Task or Plan as it was read."""
    resource: Resource
    status: TaskStatus | PlanStatus
    task: Task | None = None

    @property
    def name(self) -> str:
        return str(self.obj["metadata"]["name"])


class SchedulerController(KindController):
    NAME: ClassVar[str] = "scheduler"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._boards = Boards(self._caches, context.clock)
        self._unanswered: dict[Key, Unanswered] = {}
        """By Project, while there is anything."""

    @property
    def primary(self) -> Informer:
        return self._caches.projects.informer

    def matters(self, old: Object | None, new: Object | None) -> bool:
        return project_matters(old, new)

    def watches(self) -> Iterable[Watch]:
        return watches(self._caches)

    async def reconcile(self, key: Key) -> Result:
        for _ in range(MOST_PIECES):
            if not self._boards.look_ahead(key, self._context.now()):
                break
            await self._context.clock.sleep(0)
        now = self._context.now()
        unanswered = self._unanswered.setdefault(key, self._nothing_sent())
        sent = unanswered.tasks()
        decided = self._boards.look(key, now, sent)
        if decided is None:
            del self._unanswered[key]
            return Result()
        # The objects that were read: after an await there may be newer ones.
        writes = [self._begin(plan, status) for plan, status in decided.begins]
        by_task = {task.metadata.name: self._write(task, status) for task, status in decided.moves}
        by_task |= {task.metadata.name: self._write(task, status) for task, status in decided.waits}
        ahead = [self._again(key, name, status) for name, status in sent.items()]
        writes += [write for write in ahead if write.name not in by_task]
        writes += by_task.values()
        again = await self._carry_out(key, writes, unanswered, now)
        pauses = [s for s in (decided.again, again, unanswered.again()) if s is not None]
        if unanswered.again() is None:
            del self._unanswered[key]
        return Result(0.0 if decided.more else min(pauses, default=None))

    async def _carry_out(
        self, key: Key, writes: Iterable[_Write], unanswered: Unanswered, now: datetime
    ) -> float | None:
        """In how many seconds to look again, where one was refused. Raises Conflict when all others
        are written, and what two writes in a row have failed with: that is no matter of one object.
        """
        overtaken: Conflict | None = None
        again, failed = None, False
        for write in writes:
            what = write.resource, key_of(write.obj)
            if unanswered.waits(*what):
                continue
            sent = await self._landing(write, now)
            # What keeps one Task from being written holds up no other.
            try:
                await self._write_status(key, sent, now)
            except Conflict as error:
                overtaken = error
            except KubeError as error:
                if is_unanswered(error):
                    at_least = seconds_asked(error)
                    if unanswered.note(write.resource, write.obj, sent.status, at_least):
                        self._tell(write, error)
                    if failed:
                        raise
                    failed = True
                    continue
                again = self._passed_over(write, error) or again
            failed = False
            unanswered.answered(*what)
        if overtaken is not None:
            raise overtaken
        return again

    def _passed_over(self, write: _Write, error: KubeError) -> float | None:
        """In how many seconds to look again. Raises what is no matter of this one object."""
        if isinstance(error, NotFound):
            return None
        if not isinstance(error, ApiError) or not is_refusal(error):
            raise error
        self._tell(write, error)
        return REFUSED_SECONDS

    def _nothing_sent(self) -> Unanswered:
        informers = {TASKS: self._caches.tasks.informer, PLANS: self._caches.plans.informer}
        return Unanswered(informers, self._context.clock)

    def _again(self, key: Key, name: str, status: TaskStatus) -> _Write:
        """What had no answer, once more."""
        its = Key(key.namespace, name)
        obj, task = self._caches.tasks.informer.get(its), self._caches.tasks.get(its)
        assert obj is not None
        return _Write(obj, TASKS, status, task)

    def _write(self, task: Task, status: TaskStatus) -> _Write:
        meta = task.metadata
        obj = self._caches.tasks.informer.get(Key(meta.namespace, meta.name))
        assert obj is not None
        return _Write(obj, TASKS, status, task)

    def _begin(self, plan: Plan, status: PlanStatus) -> _Write:
        obj = self._caches.plans.informer.get(Key(plan.metadata.namespace, plan.metadata.name))
        assert obj is not None
        return _Write(obj, PLANS, status)

    async def _landing(self, write: _Write, now: datetime) -> _Write:
        """The write with which a Task whose turn to land has come begins with that at once, where
        nothing has to be done first: one write says both."""
        task = write.task
        if task is None or step_of(write.status) != "Next":
            return write
        try:
            snapshot = await task_snapshot(self._caches, key_of(write.obj), now)
        except KubeError:
            return write  # its own reconcile asks again
        if snapshot is None or snapshot.task is not task:
            return write
        assert isinstance(write.status, TaskStatus)
        decision = decide(snapshot.with_status(write.status), now)
        if decision.actions or step_of(decision.status) != "Landing":
            return write
        return replace(write, status=decision.status)

    async def _write_status(self, key: Key, write: _Write, now: datetime) -> None:
        new = self._writer.guard.is_new
        if new and write.task is not None and isinstance(write.status, TaskStatus):
            self._context.claims.note(write.task, write.status)
        wrote = await self._writer.status(
            key, write.resource, write.obj, write.status.dump(), alone=True
        )
        if wrote and write.task is not None and isinstance(write.status, TaskStatus):
            tell(self._context, write.obj, write.task, write.status, now)

    def _tell(self, write: _Write, error: KubeError) -> None:
        """An Event on the object: whoever owns it does not read the operator's log."""
        meta, kind = write.obj["metadata"], write.resource.kind.lower()
        log.warning(
            f"{kind} cannot be written", name=meta["name"], uid=meta["uid"], message=error.gist
        )
        self._writer.events.record(
            write.obj,
            reason="ReconcileFailed",
            message=f"the operator cannot schedule it and tries again: {error.gist}",
            action="Schedule",
            warning=True,
        )
