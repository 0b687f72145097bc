"""The tallies of Plans, kept from one look to the next: what has changed in the caches is put in.

A tally is nobody's until it is looked at. Of a Plan that has ended none is kept: what is settled is
held by nobody but the caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.controllers.caches.indexes import plan_named, plan_of, plan_of_session
from bernstein.controllers.caches.parsed import Parsed
from bernstein.core.plans.tally import Tally
from bernstein.core.snapshot import Tallied
from bernstein.kube.clock import Clock
from bernstein.kube.resource import Key, Object, key_of, uid_of

KEPT_SECONDS = 600.0
"""From time to time all is looked at anew: what a defect might have missed is not missed for
ever."""


class Looked(NamedTuple):
    """A Plan's Tasks and sessions, and what they come to."""

    tasks: Mapping[str, Task]
    strangers: Mapping[str, Task]
    sessions: list[AgentSession]
    tallied: Tallied


@dataclass
class _Kept:
    """A Tally, and what has changed since it was brought up to date."""

    tally: Tally
    made: float
    """In seconds of the monotonic clock."""
    sessions: dict[str, AgentSession]
    """As the Tally has them, by name."""
    changed_tasks: set[str] = field(default_factory=set)
    changed_sessions: set[str] = field(default_factory=set)


class Tallies:
    """Of all Plans that have been looked at and go on."""

    def __init__(
        self,
        plans: Parsed[Plan],
        tasks: Parsed[Task],
        sessions: Parsed[AgentSession],
        clock: Clock,
    ) -> None:
        self._tasks, self._sessions, self._clock = tasks, sessions, clock
        self._kept: dict[str, _Kept] = {}
        """As the index PLAN has them."""
        plans.informer.add_handler(self._plan_changed)
        tasks.informer.add_handler(self._task_changed)
        sessions.informer.add_handler(self._session_changed)

    def _plan_changed(self, old: Object | None, new: Object | None) -> None:
        plan = new or old
        assert plan is not None
        if new is None or (new.get("status") or {}).get("endedAt") is not None:
            self._kept.pop(plan_named(key_of(plan).namespace, uid_of(plan)), None)

    def _task_changed(self, old: Object | None, new: Object | None) -> None:
        for task in filter(None, (old, new)):
            for kept in self._of(plan_of(task)):
                kept.changed_tasks.add(task["metadata"]["name"])

    def _session_changed(self, old: Object | None, new: Object | None) -> None:
        for session in filter(None, (old, new)):
            for kept in self._of(plan_of_session(session)):
                kept.changed_sessions.add(session["metadata"]["name"])

    def _of(self, named: Iterable[str]) -> Iterable[_Kept]:
        return filter(None, map(self._kept.get, named))

    def look(self, plan: Plan, project: Project | None) -> Looked:
        """At the Plan as it is now."""
        kept = self._brought_up(plan)
        tallied = kept.tally.look(project)
        self._keep(plan, kept)
        tally = kept.tally
        return Looked(tally.members, tally.strangers, tally.sessions, tallied)

    def tip(self, plan: Plan, ref: str) -> str | None:
        """Where this integration ref is, as the ledger and Tasks that have landed since say it."""
        kept = self._brought_up(plan)
        ledger = kept.tally.ledger(ref)
        self._keep(plan, kept)
        return ledger.tip if ledger is not None else None

    def _keep(self, plan: Plan, kept: _Kept) -> None:
        """It was taken out before: after an error a new one is made."""
        if plan.status.ended_at is None:
            self._kept[plan_named(plan.metadata.namespace, plan.metadata.uid)] = kept

    def _brought_up(self, plan: Plan) -> _Kept:
        kept = self._kept.pop(plan_named(plan.metadata.namespace, plan.metadata.uid), None)
        now = self._clock.monotonic()
        if kept is None or now - kept.made >= KEPT_SECONDS or not kept.tally.goes_on_with(plan):
            sessions = self._sessions.of_plan(plan.metadata)
            owned = self._tasks.of_plan(plan.metadata).values()
            return _Kept(Tally.of(plan, owned, sessions.values()), now, sessions)
        kept.tally.put_plan(plan)
        named = plan_named(plan.metadata.namespace, plan.metadata.uid)
        for name in kept.changed_tasks:
            obj = self._tasks.informer.get(Key(plan.metadata.namespace, name))
            is_its = obj is not None and named in plan_of(obj)
            kept.tally.put_task(name, self._tasks.of(obj) if obj is not None and is_its else None)
        kept.changed_tasks.clear()
        for name in kept.changed_sessions:
            obj = self._sessions.informer.get(Key(plan.metadata.namespace, name))
            before, after = kept.sessions.pop(name, None), None
            if obj is not None and named in plan_of_session(obj):
                after = kept.sessions[name] = self._sessions.of(obj)
            kept.tally.put_session(before, after)
        kept.changed_sessions.clear()
        return kept
