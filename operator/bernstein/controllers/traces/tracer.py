"""Follows the caches, and offers what has ended to the sender.

What ended while no process led is not missed, if that was not long ago: at its start it looks at
all that is there, and offers again what ended in the last minutes. Ids follow from uids, so that
what an earlier process has sent is the same span twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bernstein.api import plan, session, task
from bernstein.api.states import SessionState
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.caches.reuse import HasSpec
from bernstein.controllers.traces.collector import Collector
from bernstein.controllers.traces.sender import Sender
from bernstein.core.owners import plan_uid
from bernstein.core.tasks.retention import ended_at
from bernstein.core.traces.job import Owner, end_of, of_job
from bernstein.core.traces.plan import of_plan
from bernstein.core.traces.session import of_session, trace_of_session
from bernstein.core.traces.span import Span, span_id, trace_id
from bernstein.core.traces.task import of_task
from bernstein.kube.clock import REAL, Clock
from bernstein.kube.resource import Key, Object, controller_of, key_of, uid_of
from bernstein.observe.metrics import Metrics
from bernstein.resources import PLANS, SESSIONS, TASKS

AGAIN = timedelta(minutes=10)
"""What ended so long before a process began to lead is offered by it, too."""
AT_ONCE = 25
"""Objects that are looked at in one step of the loop, of the thousands that there may be."""

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
        self._follow(caches.plans, plan.parse, of_plan, _of_plan)
        self._follow(caches.tasks, task.parse, of_task, _of_task)
        self._follow(caches.sessions, session.parse, of_session, _of_session)
        caches.plans.informer.add_handler(self._plan_changed)
        caches.jobs.add_handler(self._job_changed)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._sender.run())
            group.create_task(self._settled())

    async def _settled(self) -> None:
        """Of what is settled the informers tell nothing at the start."""
        await self._look_at(self._caches.plans, of_plan)
        await self._look_at(self._caches.tasks, of_task)
        await self._look_at(self._caches.sessions, of_session)

    async def _look_at(self, parsed: Parsed[T], of: OfObject[T]) -> None:
        for number, key in enumerate(parsed.informer.settled_keys()):
            if number % AT_ONCE == 0:
                await self._clock.sleep(0)
            found = parsed.informer.get(key)
            if found is not None and _may_be_late(found, self._since):
                self._offer_late(of(parsed.of(found), None))

    def _follow(
        self,
        parsed: Parsed[T],
        parse: Callable[[Object], T],
        of: OfObject[T],
        told: Callable[[Object], Any],
    ) -> None:
        """`told`: what of an object says whether more of it has ended."""

        def changed(old: Object | None, new: Object | None) -> None:
            if old is None:
                assert new is not None
                self._offer_late(of(parsed.of(new), None))
            elif new is None:
                last = parse(old)
                self._offer_more(of(last, None), of(last, self._clock.now()), uid_of(old))
            elif told(old) != told(new):
                self._offer_more(of(parse(old), None), of(parsed.of(new), None), uid_of(new))

        parsed.informer.add_handler(changed)

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
        """With a Plan its Tasks are over that have not ended, as what they wait for has failed."""
        end = _ended_at(new)
        if new is None or end is None or end == _ended_at(old) or end < self._since:
            return
        whole = self._caches.plans.of(new)
        for each in self._caches.tasks.of_plan(whole.metadata).values():
            if ended_at(each) is None:
                own = span_id(each.metadata.uid)
                self._sender.offer(s for s in of_task(each, end) if s.span_id == own)

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
    """Whether anything of a settled object can have ended since then; most ended long ago."""
    end = _ended_at(obj)
    return end is None or end >= since


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
    return judged.get("passed"), judged.get("digest"), delivery.get("landedAt")
