"""The Board of each Project, brought up to date with the caches before each look.

Handlers of the informers note whose objects have changed, once for all Projects of a namespace:
each reads on from where it was when it is looked at. So a look, after one event or after a hundred,
does as much as has changed, and an event costs the same beside one Project and beside hundreds.
What Plans and Projects say of who belongs to them is compared with what they said at the last look.

Where thousands have changed at once, which is when a large Plan begins, when all are looked at anew
and at the start, it is done in pieces before, so that nothing else has to wait for all of it.

A Board has what goes on alone: what is settled leaves it, and takes little room (see
controllers/caches/settlement.py). What goes on again is noted as if it had changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, TypeAlias

from bernstein.api.plan import Plan
from bernstein.api.plans.rows import PlanTask
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import TaskStatus
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.indexes import PLAN, plan_named
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.snapshots import beginning, plan_of
from bernstein.core import projects
from bernstein.core.delivery.ledger import changed_rows
from bernstein.core.scheduling.schedule import Board, Schedule
from bernstein.kube.clock import Clock
from bernstein.kube.resource import Key, Object, is_deleting, key_of, uid_of

KEPT_SECONDS = 600.0
"""Then a Board is made anew: what it may have missed by a defect is not missed for ever."""

MOST_NOTED = 1000
"""Changes of a namespace; then all its Boards are told of them, those that nobody looks at, too."""

PIECE = 125
"""Tasks that are taken up, or looked at, without a pause."""

NOTHING_SENT: Mapping[str, TaskStatus] = {}
_Beside = tuple[tuple[str, str, bool], ...]
_Names: TypeAlias = "Callable[[_Kept], set[str]]"
"""The names of what has changed, of one kind."""


@dataclass
class _Kept:
    """A Board, and what has changed since it was brought up to date."""

    board: Board
    made: float
    """In seconds of the monotonic clock."""
    beside: _Beside
    """The Projects of the namespace, as Tasks are told apart by them."""
    plans: dict[str, Plan] = field(default_factory=dict)
    """As the Board has them, by name; none that is being deleted, and of those that are settled
    only such as have a Task there."""
    settled: set[str] = field(default_factory=set)
    """Names of those Plans that are."""
    sessions: dict[str, AgentSession] = field(default_factory=dict)
    """As the Board has them, by name."""
    sent: frozenset[str] = frozenset()
    """Names of the Tasks that the Board has as they may become, and not as they are."""
    noted: int = 0
    """How many of the changes that are noted for its namespace it has been told of."""
    changed_tasks: set[str] = field(default_factory=set)
    changed_plans: set[str] = field(default_factory=set)
    changed_sessions: set[str] = field(default_factory=set)


class Boards:
    """Of all Projects that have been looked at."""

    def __init__(self, caches: Caches, clock: Clock) -> None:
        self._caches, self._clock = caches, clock
        self._kept: defaultdict[str, dict[str, _Kept]] = defaultdict(dict)
        """By namespace, then by name of the Project."""
        self._noted: defaultdict[str, list[tuple[_Names, str]]] = defaultdict(list)
        """What has changed, by namespace: of which kind, and its name."""
        self._projects: dict[str, _Beside] = {}
        """Of namespaces, as long as nothing of it changes."""
        caches.projects.informer.add_handler(self._project_changed)
        self._note(caches.tasks, lambda kept: kept.changed_tasks)
        self._note(caches.plans, lambda kept: kept.changed_plans)
        self._note(caches.sessions, lambda kept: kept.changed_sessions)

    def _note(self, parsed: Parsed[Any], names: _Names) -> None:
        def noted(key: Key) -> None:
            boards = self._kept.get(key.namespace)
            if not boards:
                return
            changes = self._noted[key.namespace]
            changes.append((names, key.name))
            if len(changes) < MOST_NOTED:
                return
            self._tell_all(key.namespace, boards.values())

        def changed(old: Object | None, new: Object | None) -> None:
            obj = new if new is not None else old
            assert obj is not None
            noted(key_of(obj))

        parsed.informer.add_handler(changed)
        parsed.tell(noted)

    def _tell_all(self, namespace: str, boards: Collection[_Kept]) -> None:
        """All Boards of the namespace are told of all changes, so that none has to stay noted."""
        for kept in boards:
            self._catch_up(namespace, kept)
            kept.noted = 0
        self._noted[namespace].clear()

    def _catch_up(self, namespace: str, kept: _Kept) -> None:
        """It is told what has changed since it was looked at."""
        changes = self._noted[namespace]
        for names, name in changes[kept.noted :]:
            names(kept).add(name)
        kept.noted = len(changes)

    def _project_changed(self, old: Object | None, new: Object | None) -> None:
        if _identity(old) != _identity(new):
            for project in filter(None, (old, new)):
                self._projects.pop(key_of(project).namespace, None)

    def look(
        self, key: Key, now: datetime, sent: Mapping[str, TaskStatus] = NOTHING_SENT
    ) -> Schedule | None:
        """The schedule of the Project as the caches are now; None: it is gone or being deleted.

        `sent`: statuses of Tasks that may still be applied, by name. These have by now what they
        would have then.
        """
        project = self._project(key)
        # Kept again once it has been looked at: after an error a new one is made.
        kept = self._take(key)
        if project is None:
            return None
        kept.changed_tasks |= kept.sent | sent.keys()
        kept.sent = frozenset(sent)
        self._bring_up(key, kept, sent)
        roles = self._caches.roles_known.of(key.namespace)
        schedule = kept.board.look(project, beginning(self._caches, project), now, roles)
        self._kept[key.namespace][key.name] = kept
        return schedule

    def look_ahead(self, key: Key, now: datetime) -> bool:
        """Does a piece of what `look` has to do; False: there is no more of it than that."""
        project = self._project(key)
        if project is None:
            return False
        kept = self._take(key)
        self._put_plans(key, kept)
        if len(kept.changed_tasks) + len(kept.changed_sessions) > PIECE:
            self._bring_up(key, kept, NOTHING_SENT, most=PIECE)
            more = True
        else:
            self._bring_up(key, kept, NOTHING_SENT)
            roles = self._caches.roles_known.of(key.namespace)
            more = kept.board.look_ahead(project, now, PIECE, roles)
        self._kept[key.namespace][key.name] = kept
        return more

    def _project(self, key: Key) -> Project | None:
        project = self._caches.projects.get(key)
        return None if project is None or project.metadata.deletion_timestamp else project

    def _take(self, key: Key) -> _Kept:
        """The Board of the Project, taken out, or a new one that knows nothing yet."""
        kept = self._kept[key.namespace].pop(key.name, None)
        beside = self._beside(key.namespace)
        if (
            kept is not None
            and kept.beside == beside
            and self._clock.monotonic() - kept.made < KEPT_SECONDS
        ):
            if self._kept[key.namespace]:
                self._catch_up(key.namespace, kept)
            else:
                self._tell_all(key.namespace, [kept])
            return kept
        return _Kept(
            Board(),
            self._clock.monotonic(),
            beside,
            changed_tasks=set(self._caches.tasks.going(key.namespace)),
            changed_plans=set(self._caches.plans.going(key.namespace)),
            changed_sessions=set(self._caches.sessions.going(key.namespace)),
            noted=len(self._noted[key.namespace]),
        )

    def _beside(self, namespace: str) -> _Beside:
        found = self._projects.get(namespace)
        if found is None:
            metadata = (p.metadata for p in self._caches.projects.by_name(namespace).values())
            found = tuple((m.name, m.uid, m.deletion_timestamp is None) for m in metadata)
            self._projects[namespace] = found
        return found

    def _bring_up(
        self, key: Key, kept: _Kept, sent: Mapping[str, TaskStatus], most: int | None = None
    ) -> None:
        """The Board knows what has changed; of Tasks and sessions only so many, if `most` says."""
        self._put_plans(key, kept)
        self._put_tasks(key, kept, sent, most)
        self._let_go(kept)
        known = self._caches.sessions.going(key.namespace)
        for name in _taken(kept.changed_sessions, most):
            before, after = kept.sessions.pop(name, None), known.get(name)
            kept.board.put_session(before, after)
            if after is not None:
                kept.sessions[name] = after

    def _put_plans(self, key: Key, kept: _Kept) -> None:
        """Those that have changed; whose Tasks others are by that has changed, too."""
        for name in kept.changed_plans:
            kept.changed_tasks |= self._put_plan(key.namespace, name, kept)
        kept.changed_plans.clear()

    def _put_tasks(
        self, key: Key, kept: _Kept, sent: Mapping[str, TaskStatus], most: int | None
    ) -> None:
        beside = self._caches.projects.going(key.namespace)
        going = self._caches.tasks.going(key.namespace)
        for name in _taken(kept.changed_tasks, most):
            task = going.get(name)
            plan = plan_of(self._caches, task) if task is not None else None
            project = projects.of_task(task, plan, beside).project if task is not None else None
            member = project is not None and project.metadata.name == key.name
            if task is not None and name in sent:
                task = task.model_copy(update={"status": sent[name]})
            kept.board.put_task(name, task, plan, member=member)
            if task is not None and plan is not None:
                self._keep(kept, plan)

    def _keep(self, kept: _Kept, plan: Plan) -> None:
        key = Key(plan.metadata.namespace, plan.metadata.name)
        kept.plans[key.name] = plan
        if self._caches.plans.informer.is_settled(key):
            kept.settled.add(key.name)
        else:
            kept.settled.discard(key.name)

    def _let_go(self, kept: _Kept) -> None:
        """Of Plans that are settled the Board has those that have a Task there: they are few."""
        for name in [*kept.settled]:
            plan = kept.plans.get(name)
            if plan is None or not kept.board.has_plan(plan.metadata.uid):
                kept.settled.discard(name)
                kept.plans.pop(name, None)

    def _is_over(self, key: Key) -> bool:
        """Whether the Plan and all its Tasks are settled; it is not unpacked for it."""
        plans = self._caches.plans.informer
        uid = plans.uid_shown(key)
        if uid is None or not plans.is_settled(key):
            return False
        its = plan_named(key.namespace, uid)
        return not self._caches.tasks.going_by_index(key.namespace, PLAN, its)

    def _put_plan(self, namespace: str, name: str, kept: _Kept) -> set[str]:
        """Names of the Tasks that may be of this Plan now and were not, or no more."""
        key, before = Key(namespace, name), kept.plans.pop(name, None)
        if before is None and self._is_over(key):
            return set()
        after = self._caches.plans.get(key)
        if after is not None and after.metadata.deletion_timestamp is not None:
            after = None
        if after is not None:
            self._keep(kept, after)
        names: set[str] = set()
        same = before is not None and after is not None and _of(before) == _of(after)
        if same and before is not None and after is not None:
            names = _with_other_rows(before.status.tasks, after.status.tasks)
        for plan in (before, after):
            if plan is None:
                continue
            if not same:
                names |= self._caches.tasks.going_of_plan(plan.metadata).keys()
            if after is None or plan.metadata.uid != after.metadata.uid:
                kept.board.put_plan(plan.metadata.uid, None)
        if after is not None:
            kept.board.put_plan(after.metadata.uid, after)
        return names


def _identity(project: Object | None) -> tuple[object, ...] | None:
    """What Tasks are told apart by."""
    return (uid_of(project), is_deleting(project)) if project is not None else None


def _taken(names: set[str], most: int | None) -> list[str]:
    """So many of them, or all; they are no more among them."""
    found = [*islice(names, most)]
    names.difference_update(found)
    return found


def _of(plan: Plan) -> tuple[object, ...]:
    """What says whose the Tasks of a Plan are, but for its rows."""
    status = plan.status
    return plan.metadata.uid, status.is_mapped, status.project_uid, status.project


def _with_other_rows(old: tuple[PlanTask, ...], new: tuple[PlanTask, ...]) -> set[str]:
    """Names of Tasks whose row came or went, or means another one."""
    before: Iterable[PlanTask] = old
    after: Iterable[PlanTask] = new
    if len(old) == len(new):
        changes = changed_rows(old, new)
        before, after = ([was for was, _ in changes], [row for _, row in changes])
    return {name for name, _ in _meant(before).items() ^ _meant(after).items()}


def _meant(rows: Iterable[PlanTask]) -> Mapping[str, tuple[bool, str | None]]:
    """Of each Task that has a row, whether only one of a certain uid is meant, and which."""
    return {r.name: (True, r.uid) if r.landed is not None else (False, None) for r in rows}
