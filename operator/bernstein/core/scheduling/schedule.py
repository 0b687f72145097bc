"""The schedule of one Project, kept between two looks: who starts, who lands next, why the others
wait.

    put ──▶ who is to be looked at again ──▶ CHAIN ─┬─ a reason of its own to wait
                                                    ├─ ready, its spec has subtasks ──▶ split
                                                    └─ ready ──▶ Line ─┬─ claimed
                                                                       └─ waits for others
    Done ──▶ landing_turns: Next, or whom it lands after
    Plans that begin ──▶ begin_turns: Next

It is decided for all of them together, from one look at the caches, and one writer writes it. So
nothing is handed out twice, and no Task overtakes one that comes before it.

What has changed is put in; `look` does as much as follows from that. However long a Board was kept,
it says what a new one would that is made of the same objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain as joined
from itertools import islice

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task, TaskStatus
from bernstein.core import progress
from bernstein.core.approvals import plans
from bernstein.core.delivery.landing import step_of
from bernstein.core.money import budget
from bernstein.core.money.spending import Spending
from bernstein.core.projects import repositories
from bernstein.core.projects.readiness import not_ready
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.core.scheduling import (
    begin_turns,
    chain,
    landing_turns,
    opening,
    siblings,
)
from bernstein.core.scheduling import peer as peers
from bernstein.core.scheduling.chain import Wait
from bernstein.core.scheduling.edges import Edges
from bernstein.core.scheduling.evidence import evidence_lasts, until_said_again
from bernstein.core.scheduling.line import Line
from bernstein.core.scheduling.starts import Capacity
from bernstein.core.snapshot import AtWork, TaskSnapshot

WAITS_AT_ONCE = 100
"""So many Tasks are told why they wait, and so many are split, before it is looked again who may
start by then."""

_JUST_BEFORE = timedelta(seconds=5)
"""As long a look in pieces may take: somebody may start so much later than at the first moment."""

Decided = tuple[Task, TaskStatus]


@dataclass(frozen=True)
class Schedule:
    """What is to be written, and when to look again at the latest."""

    moves: tuple[Decided, ...]
    """Claims, turns to land that are given or taken back, and WAITS_AT_ONCE splits; each with the
    Task as it was read."""
    waits: tuple[Decided, ...]
    """Why others wait, where that is not what they say already; WAITS_AT_ONCE of them."""
    begins: tuple[tuple[Plan, PlanStatus], ...] = ()
    """Turns to begin that are given, each with the Plan as it was read."""
    again: float | None = None
    more: bool = False
    """There are others to be told, by another look: what cannot be written is not worked out."""


class Board:
    """What the schedule of one Project reads, and what it has found of that: why each waits, who
    stands in line, and who is split where it would start."""

    def __init__(self) -> None:
        self._project: Project | None = None
        self._roles = BUILT_IN
        self._tasks: dict[str, Task] = {}
        """The Tasks of the namespace that go on, by name; what is settled concerns none of them."""
        self._members: set[str] = set()
        """Names of the Project's own."""
        self._plans: dict[str, Plan] = {}
        """Those that are not being deleted and have a Task here, by uid."""
        self._plan_of: dict[str, str] = {}
        """The uid of the Plan of each Task, by the Task's name."""
        self._of_plan: defaultdict[str, set[str]] = defaultdict(set)
        """Names of the Tasks of each Plan, by its uid."""
        self._own: dict[str, Wait | None] = {}
        """What each that may start itself waits for, by its name; None: it is ready."""
        self._timed: set[str] = set()
        """Those of them that go on at a certain time, or for whom others wait until then."""
        self._splits: set[str] = set()
        """Those that would start, and are split instead: they take nobody's place."""
        self._rejected: set[str] = set()
        """Those of them whose work did not pass, or did not merge."""
        self._at_work: defaultdict[str, dict[str, AtWork]] = defaultdict(dict)
        """Who is at work, by uid of the Plan, then by name."""
        self._landing: dict[str, Task] = {}
        """Those that land, or ask for their turn to."""
        self._again: set[str] = set()
        """Names of those that are to be looked at again."""
        self._ahead: dict[str, float | None] = {}
        """Those that were, since the last schedule; in how many seconds they are to be again."""
        self._ahead_since: datetime | None = None
        """Since when that is done; None: it is not."""
        self._untold: set[str] = set()
        """Names of those whose status says something else than why they wait."""
        self._spent: dict[str, bool] = {}
        """Whether the budget of a Plan is spent, by its uid."""
        self._is_reckoned = False
        """Whether that is so still: nothing was put in since, and the Project says the same."""
        self._capacity: Capacity | None = None
        self._edges, self._line, self._spending = Edges(), Line(), Spending()

    def put_task(
        self, name: str, task: Task | None, plan: Plan | None = None, *, member: bool = False
    ) -> None:
        """The Task of this name is this now, of this Plan, and the Project's own or not."""
        before = self._tasks.pop(name, None)
        if task is not None:
            self._tasks[name] = task
        if member:
            self._members.add(name)
        else:
            self._members.discard(name)
        self._is_reckoned = False
        self._spending.put_task(name, before, task)
        self._again |= self._edges.put(name, task)
        self._again.add(name)
        if plan is not None and plan.metadata.uid not in self._plans:
            self._take_in(plan.metadata.uid, plan)
        self._put_in_plan(name, plan.metadata.uid if plan is not None else None)
        if member and task is not None and landing_turns.lands(task):
            self._landing[name] = task
        else:
            self._landing.pop(name, None)

    def _put_in_plan(self, name: str, uid: str | None) -> None:
        before = self._plan_of.pop(name, None)
        if before is not None:
            self._of_plan[before].discard(name)
        if uid is not None:
            self._plan_of[name] = uid
            self._of_plan[uid].add(name)
        for plan in {before, uid} - {None}:
            assert plan is not None
            here = name in self._members and plan == uid
            working = siblings.at_work([self._tasks[name]]) if here else ()
            at_work = self._at_work[plan]
            if at_work.get(name) == next(iter(working), None):
                continue
            at_work.pop(name, None)
            at_work.update((name, each) for each in working)
            self._again |= self._of_plan[plan] & self._rejected
        if before is not None and not self._of_plan[before]:
            del self._of_plan[before]
            self._at_work.pop(before, None)
            self._take_in(before, None)

    def put_plan(self, uid: str, plan: Plan | None) -> None:
        """The Plan of this uid is this now; None: it is gone, or being deleted.

        One that has no Task here is known from its first one on: thousands may have ended.
        """
        if uid in self._plans or uid in self._of_plan:
            self._take_in(uid, plan)

    def has_plan(self, uid: str) -> bool:
        """Whether a Task here is of the Plan with this uid."""
        return uid in self._plans

    def _take_in(self, uid: str, plan: Plan | None) -> None:
        self._is_reckoned = False
        before = self._plans.pop(uid, None)
        if plan is not None:
            self._plans[uid] = plan
        else:
            self._spent.pop(uid, None)
        if _reads(before) != _reads(plan):
            self._capacity = None
            self._again |= self._of_plan.get(uid, set())
        self._again |= self._edges.put_plan(uid, plan)

    def put_session(self, before: AgentSession | None, after: AgentSession | None) -> None:
        """A session was `before` what it is now; None: it was not, or is not, there."""
        self._is_reckoned = False
        self._spending.put_session(before, after)

    def look_ahead(
        self, project: Project, now: datetime, most: int, roles: Roles = BUILT_IN
    ) -> bool:
        """Looks at so many of the Tasks that a schedule has to look at, or at so many of those in
        line; False: it is no more than that, and left to the schedule."""
        self._meet(project, roles)
        if self._is_behind(now):
            self._ahead_since = now
            self._again |= self._timed
        if self._edges.may_be_round:
            self._again.update(self._edges.look_for_circles())
            return True
        self._look_what_is_spent()
        if len(self._again) > most or (self._again and self._line.is_long):
            for name in [*islice(self._again, most)]:
                self._again.discard(name)
                self._ahead[name] = self._look_at(name, now)
            return True
        if not self._line.is_long:
            return False
        self._limit_the_line()
        return self._line.look_ahead()

    def look(
        self,
        project: Project,
        beginning: Iterable[Plan],
        now: datetime,
        roles: Roles = BUILT_IN,
    ) -> Schedule:
        """The schedule; `beginning`: the Project's Plans that ask for a turn to begin, or have one;
        `roles`: those of the namespace."""
        self._meet(project, roles)
        if self._is_behind(now):
            self._again |= self._timed
        self._ahead_since = None
        self._again.update(self._edges.look_for_circles())
        self._look_what_is_spent()
        again, self._ahead = self._ahead, {}
        again.update((name, self._look_at(name, now)) for name in self._again)
        self._again.clear()
        changed = self._look_along_the_line() | again.keys()
        for name in changed & self._own.keys():
            self._check_what_is_told(name)
        soonest = min(filter(None, again.values()), default=None)
        return self._schedule(project, beginning, now, soonest)

    def _is_behind(self, now: datetime) -> bool:
        """Whether those that go on at a certain time were not looked at just before."""
        since = self._ahead_since
        return since is None or not since <= now <= since + _JUST_BEFORE

    def _meet(self, project: Project, roles: Roles) -> None:
        """The Project is this now, and so are the roles."""
        before, self._project = self._project, project
        known, self._roles = self._roles, roles
        if roles is not known and roles != known:
            self._again |= self._members
        if before is None or _is_other(before, project):
            self._capacity, self._is_reckoned = None, False
            self._again |= self._members

    def _look_what_is_spent(self) -> None:
        """Whose Plan may spend no more, or may again, is looked at again: once for all the pieces
        of a look, as long as nothing changes between them."""
        assert self._project is not None
        if self._is_reckoned:
            return
        self._is_reckoned = True
        for uid, plan in self._plans.items():
            if plan.spec.budget is None:
                continue
            spent = budget.is_spent(plan, self._spending.of(plan, self._project))
            if self._spent.get(uid) != spent:
                self._spent[uid] = spent
                self._again |= self._of_plan[uid]

    def _look_at(self, name: str, now: datetime) -> float | None:
        """Looks at one Task alone; seconds until it has to be looked at again, whatever happens."""
        assert self._project is not None
        task = self._tasks[name] if name in self._members else None
        plan = self._plans.get(self._plan_of.get(name, ""))
        waiter = (
            self._snapshot(task) if task is not None and opening.may_start(task, plan) else None
        )
        wait = chain.first(chain.CHAIN, waiter, now) if waiter is not None else None
        lapses = _lapses(waiter, wait, now)
        self._note_waiter(name, waiter, wait, lapses)
        held = wait is not None and wait.by is chain.held
        if held and waiter is not None:
            held = chain.first(chain.OTHERS, waiter, now) is None
        is_ready = waiter is not None and wait is None and not waiter.task.spec.subtasks
        peer = None
        if task is not None:
            peer = peers.of(task, self._project, now, ready=is_ready, probes=is_ready or held)
        self._line.put(name, peer)
        seconds = wait.seconds if wait is not None else None
        return min(filter(None, (seconds, lapses)), default=None)

    def _note_waiter(
        self, name: str, waiter: TaskSnapshot | None, wait: Wait | None, lapses: float | None
    ) -> None:
        task = waiter.task if waiter is not None else None
        self._edges.waits(name, task, self._plan_of.get(name))
        self._own.pop(name, None)
        for names in (self._splits, self._untold, self._timed, self._rejected):
            names.discard(name)
        if waiter is None or task is None:
            return
        if wait is None and task.spec.subtasks:
            self._splits.add(name)
            return
        self._own[name] = wait
        waiting = task.status.waiting
        if lapses is not None or (waiting is not None and waiting.until is not None):
            self._timed.add(name)
        if siblings.was_rejected(task.status):
            self._rejected.add(name)

    def _snapshot(self, task: Task) -> TaskSnapshot:
        """A Task that may start, with what its own reasons to wait look at."""
        assert self._project is not None
        plan = self._plans.get(self._plan_of.get(task.metadata.name, ""))
        at_work: Sequence[AtWork] = ()
        if plan is not None and siblings.was_rejected(task.status):
            at_work = siblings.in_order(self._at_work[plan.metadata.uid].values())
        its = repositories.place_of_task(task, plan, self._project)
        return TaskSnapshot(
            task=task,
            project=its.project,
            project_problem=its.problem,
            plan=plan,
            tasks=self._tasks,
            plan_spend=self._spending.of(plan, self._project),
            at_work=at_work,
            upstreams=self._edges.upstreams,
            roles=self._roles,
        )

    def _look_along_the_line(self) -> set[str]:
        """Names of those who may have another answer than before."""
        self._limit_the_line()
        return self._line.refresh()

    def _limit_the_line(self) -> None:
        assert self._project is not None
        if self._capacity is None:
            limits = self._project.spec.limits
            plans = {uid: plan.spec.max_agents for uid, plan in self._plans.items()}
            most = {uid: number for uid, number in plans.items() if number is not None}
            exclusive = limits.undeclared_files_exclusive
            self._capacity = Capacity(limits.max_agents, most, exclusive)
            self._line.limit(self._capacity)

    def _wait(self, name: str) -> Wait | None:
        """Why the Task waits, by itself or for others; None: it starts."""
        own = self._own[name]
        return own if own is not None else self._line.answer(name)

    def _check_what_is_told(self, name: str) -> None:
        wait = self._wait(name)
        if wait is None or opening.says(self._tasks[name].status, wait):
            self._untold.discard(name)
        else:
            self._untold.add(name)

    def _schedule(
        self,
        project: Project,
        beginning: Iterable[Plan],
        now: datetime,
        again: float | None,
    ) -> Schedule:
        starting = (self._tasks[name] for name in self._line.starts())
        claims = [(task, opening.claimed(self._snapshot(task), now)) for task in starting]
        lands = (self._landing[name] for name in sorted(self._landing))
        called = partial(repositories.called, project.spec)
        landing = landing_turns.turns(lands, now, called)
        moved = [each for each in landing if step_of(each[1]) != step_of(each[0].status)]
        behind = [
            (task, status)
            for task, status in landing
            if status is not task.status and step_of(status) == step_of(task.status)
        ]
        told = joined(_changed(behind, now), self._told(now))
        approved = (plan for plan in beginning if plans.may_begin(plan, project))
        written, splits = tuple(islice(told, WAITS_AT_ONCE)), self._split(now)
        return Schedule(
            (*_changed((*claims, *moved), now), *splits),
            written,
            tuple(begin_turns.turns(approved, project.spec.limits.max_agents)),
            again,
            more=len(self._splits) > len(splits) or next(told, None) is not None,
        )

    def _split(self, now: datetime) -> tuple[Decided, ...]:
        """WAITS_AT_ONCE of those that are split, in the order in which they would start."""
        tasks = sorted((self._tasks[name] for name in self._splits), key=peers.order_of)
        first = islice(tasks, WAITS_AT_ONCE)
        return tuple(
            _changed(((task, opening.split(self._snapshot(task), now)) for task in first), now)
        )

    def _told(self, now: datetime) -> Iterator[Decided]:
        """Those that say something else than why they wait, each worked out when it is asked for,
        in the order in which they start."""
        tasks = (self._tasks[name] for name in self._untold)
        for task in sorted(tasks, key=peers.order_of):
            name, wait = task.metadata.name, self._wait(task.metadata.name)
            assert wait is not None
            waiter = self._snapshot(task)
            status = opening.waits(waiter, opening.scheduled(waiter, now), wait, now)
            changed = next(_changed([(task, status)], now), None)
            if changed is not None:
                yield changed
            else:
                self._untold.discard(name)  # it says so in the words that fit into a status


def _lapses(waiter: TaskSnapshot | None, wait: Wait | None, now: datetime) -> float | None:
    """Seconds until others need not wait any more for what this one has met, or until it has to be
    met again; None: they do not, or not for a time."""
    if waiter is None:
        return None
    changes = (evidence_lasts, until_said_again)
    found = (change(waiter.task.status, ready=wait is None, now=now) for change in changes)
    return min((left for left in found if left is not None and left > 0), default=None)


def _reads(plan: Plan | None) -> tuple[object, ...] | None:
    """What of a Plan says whether its Tasks may start, but for its rows and what it has spent."""
    if plan is None:
        return None
    status = plan.status
    ended, begun = status.ended_at is not None, status.integration is not None
    how = (status.phase, [row.rounds for row in status.tasks]) if ended else None
    part = status.partial is not None
    asked = plans.is_unapproved(status)
    return plan.metadata.generation, begun, how, part, status.expanded, asked


def _is_other(before: Project, after: Project) -> bool:
    """Whether Tasks read something else in it than before."""
    old, new = before.metadata, after.metadata
    same = (old.uid, old.generation) == (new.uid, new.generation)
    return not same or not_ready(before) != not_ready(after) or before.spec != after.spec


def _changed(decided: Iterable[Decided], now: datetime) -> Iterator[Decided]:
    told = ((task, progress.of_task(task, status, now)) for task, status in decided)
    return ((task, status) for task, status in told if status != task.status)
