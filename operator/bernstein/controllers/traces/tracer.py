"""Follows the caches, and offers what has ended to the sender.

What ended while no process led is not missed, if that was not long ago: at its start it looks at
all that is there, and offers again what ended in the last minutes. Ids follow from uids, so that
what an earlier process has sent is the same span twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bernstein.api import plan, session, task
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import PLAN, plan_named
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.caches.reuse import HasSpec
from bernstein.controllers.traces.collector import Collector
from bernstein.controllers.traces.sender import Sender
from bernstein.core.owners import plan_of, plan_uid
from bernstein.core.tasks.retention import ended_at
from bernstein.core.traces.job import Owner, end_of, of_job
from bernstein.core.traces.plan import of_plan
from bernstein.core.traces.session import of_session, trace_of_session
from bernstein.core.traces.span import DELETED, Span, span_id, trace_id
from bernstein.core.traces.task import of_task, whole_of
from bernstein.kube.cache import Handler
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object, controller_of, key_of, uid_of
from bernstein.observe.metrics import Metrics
from bernstein.resources import PLANS, SESSIONS, TASKS

AGAIN = timedelta(minutes=10)
"""What ended so long before a process began to lead is offered by it, too."""
AT_ONCE = 25
"""Objects that are looked at in one step of the loop, of the thousands that there may be; and no
more than one of which spans are made."""
PLAN_ENDED = "PlanEnded"
"""Why a Task is over that was to wait for what its Plan does not do any more."""

T = TypeVar("T", bound=HasSpec)
OfObject = Callable[[T, datetime | None], list[Span]]


class Tracer:
    """Made when its replica begins to lead, once the caches are filled."""

    def __init__(
        self, caches: Caches, collector: Collector, metrics: Metrics, clock: Clock = REAL
    ) -> None:
        self._caches = caches
        self._clock = clock
        self._sender = Sender(collector, metrics, clock)
        self._since = clock.now() - AGAIN
        self._over: asyncio.Queue[tuple[Task, datetime, str]] = asyncio.Queue()
        """Tasks without an end of their own, and when and why they were over."""
        self._begins: list[tuple[Informer, dict[Key, None], Handler]] = []
        """What was there at the start and has not been looked at."""
        self._follow(caches.plans, plan.parse, of_plan, _of_plan, of_plan)
        self._follow(caches.tasks, task.parse, of_task, _of_task, self._deleted_task)
        self._follow(caches.sessions, session.parse, of_session, _of_session, of_session)
        self._hear(caches.plans.informer, self._plan_changed)
        self._hear(caches.jobs, self._job_changed)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._sender.run())
            group.create_task(self._tasks_over())
            group.create_task(self._begin())

    async def _begin(self) -> None:
        """Looks at all that was there at the start, a few in each step of the loop."""
        for informer, unseen, handler in self._begins:
            for number, key in enumerate([*unseen]):
                if number % AT_ONCE == 0:
                    await self._clock.sleep(0)
                found = informer.get(key) if key in unseen else None
                unseen.pop(key, None)
                if found is not None and _may_be_late(found, self._since):
                    handler(None, found)
                    await self._clock.sleep(0)

    def _hear(self, informer: Informer, handler: Handler) -> None:
        """Has it called for what changes from now on; what is there is looked at soon, or when it
        changes for the first time, if that is sooner."""
        unseen: dict[Key, None] = {}
        begun = False

        def changed(old: Object | None, new: Object | None) -> None:
            if not begun:
                return
            if new is None:
                assert old is not None
                if key_of(old) in unseen:
                    unseen.pop(key_of(old))
                    if _may_be_late(old, self._since):
                        handler(None, old)
                handler(old, None)
            elif key_of(new) in unseen or old is None:
                unseen.pop(key_of(new), None)
                if _may_be_late(new, self._since):
                    handler(None, new)
            else:
                handler(old, new)

        informer.add_handler(changed)
        begun = True
        unseen.update(dict.fromkeys(informer.keys()))
        self._begins.append((informer, unseen, handler))

    async def _tasks_over(self) -> None:
        """There may be thousands at once: of each the whole is made in a step of its own."""
        while True:
            self._sender.offer(whole_of(*await self._over.get()))
            await self._clock.sleep(0)

    def _follow(
        self,
        parsed: Parsed[T],
        parse: Callable[[Object], T],
        of: OfObject[T],
        told: Callable[[Object], Any],
        deleted: OfObject[T],
    ) -> None:
        """`told`: what of an object says whether more of it has ended. `deleted`: its spans once it
        is gone, and when that was seen."""

        def changed(old: Object | None, new: Object | None) -> None:
            if old is None:
                assert new is not None
                is_there = parsed.informer.get(key_of(new)) is not None
                self._offer_late(of(parsed.of(new) if is_there else parse(new), None))
            elif new is None:
                last = parse(old)
                self._offer_more(of(last, None), deleted(last, self._clock.now()), uid_of(old))
            elif told(old) != told(new):
                self._offer_more(of(parse(old), None), of(parsed.of(new), None), uid_of(new))

        self._hear(parsed.informer, changed)

    def _offer_late(self, spans: Iterable[Span]) -> None:
        self._sender.offer([span for span in spans if span.end >= self._since])

    def _offer_more(self, before: Sequence[Span], now: Iterable[Span], uid: str) -> None:
        """What was not there before; and the whole, where it went on and has ended once more."""
        known, whole = {span.span_id for span in before}, span_id(uid)
        ends = {span.end for span in before if span.span_id == whole}
        self._sender.offer(
            [
                span
                for span in now
                if span.span_id not in known or (span.span_id == whole and span.end not in ends)
            ]
        )

    def _plan_changed(self, old: Object | None, new: Object | None) -> None:
        """With a Plan its Tasks are over that have not ended: what they wait for has failed, or is
        to be deleted as they are."""
        before, end = _ended_at(old), _ended_at(new)
        if old is not None and new is None and before is None:
            self._over_with(old, self._clock.now(), DELETED)
        elif new is not None and end is not None and end != before and end >= self._since:
            self._over_with(new, end, PLAN_ENDED)

    def _over_with(self, whole: Object, end: datetime, why: str) -> None:
        where = key_of(whole).namespace
        named = plan_named(where, uid_of(whole))
        for each in self._caches.tasks.going_by_index(where, PLAN, named).values():
            if ended_at(each) is None:
                self._over.put_nowait((each, end, why))

    def _deleted_task(self, gone: Task, now: datetime | None) -> list[Span]:
        """Its spans. With a Plan that has ended, or is gone, it was over: that has been told."""
        of = plan_of(gone)
        if of is None:
            return of_task(gone, now)
        whole = self._caches.plans.get(Key(gone.metadata.namespace, of.name))
        goes_on = whole and whole.metadata.uid == of.uid and whole.status.ended_at is None
        return of_task(gone, now if goes_on else None)

    def _job_changed(self, old: Object | None, new: Object | None) -> None:
        if new is None or end_of(new) is None or (old is not None and end_of(old) is not None):
            return
        owner = self._owner(new)
        if owner is None:
            return
        if old is None:
            self._offer_late(of_job(new, owner))
        else:
            self._sender.offer(of_job(new, owner))

    def _owner(self, job: Object) -> Owner | None:
        """None: it is a Project's, or whoever it was made for is gone."""
        owner = controller_of(job)
        if owner is None:
            return None
        uid, key = str(owner["uid"]), Key(key_of(job).namespace, owner["name"])
        if owner["kind"] == PLANS.kind:
            return Owner(uid, trace_id(uid))
        if owner["kind"] == TASKS.kind:
            of_its = self._caches.tasks.get(key)
            is_it = of_its is not None and of_its.metadata.uid == uid
            return Owner(uid, trace_id(plan_uid(of_its) or uid)) if of_its and is_it else None
        if owner["kind"] == SESSIONS.kind:
            run = self._caches.sessions.get(key)
            is_it = run is not None and run.metadata.uid == uid
            return Owner(uid, trace_of_session(run)) if run and is_it else None
        return None


def _may_be_late(obj: Object, since: datetime) -> bool:
    """Whether any part of an object can have ended since then; of most all did long ago."""
    times = [*_times(obj)]
    return not times or max(map(datetime.fromisoformat, times)) >= since


def _times(obj: Object) -> Iterator[str]:
    """Those at which parts of it have ended, as far as it says so."""
    status = obj.get("status") or {}
    found = [status.get("endedAt"), *(move["time"] for move in status.get("history") or ())]
    for each in (status, *(status.get("repositories") or ())):
        judged, delivery = each.get("verification") or {}, each.get("delivery") or {}
        found += [delivery.get("landedAt"), judged.get("verifiedAt")]
        found += [check.get("endedAt") for check in judged.get("checks") or ()]
    return (time for time in found if time is not None)


def _ended_at(obj: Object | None) -> datetime | None:
    found = ((obj or {}).get("status") or {}).get("endedAt")
    return datetime.fromisoformat(found) if found is not None else None


def _of_session(obj: Object) -> bool:
    return (obj.get("status") or {}).get("state") == SessionState.DEAD


def _of_task(obj: Object) -> Any:
    status = obj.get("status") or {}
    moves = status.get("history") or ()
    return (status.get("state"), moves[-1:], status.get("endedAt"), _of_work(status))


def _of_plan(obj: Object) -> Any:
    status = obj.get("status") or {}
    rows = status.get("repositories") or ()
    return status.get("endedAt"), [_of_work(each) for each in (status, *rows)]


def _of_work(status: Object) -> Any:
    judged, delivery = status.get("verification") or {}, status.get("delivery") or {}
    said = (judged.get("passed"), judged.get("digest"), judged.get("round"), judged.get("ref"))
    return said, delivery.get("landedAt")
