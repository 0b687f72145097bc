"""What Plans have spent so far, kept between two looks.

    put ──▶ names, and uids, of Tasks that are to be looked at again
                 │
                 ├─▶ what Task and row of this name have settled: in the sum of all
                 └─▶ what sessions have cost beyond that: those at work, and some that outlived
                     their Task

A look does as much as has changed. However long it was kept, it says what a new one would that is
made of the same objects.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from bernstein.api.plan import Plan
from bernstein.api.plans.rows import PlanTask, Settled
from bernstein.api.project import Price, Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.delivery.ledger import changed_rows
from bernstein.core.money import spend

_NOTHING = Decimal(0)


class Spending:
    """What Plans have spent so far, in US dollars.

    Sessions made by an older release do not name the Plan: they count by their Task.
    """

    def __init__(self) -> None:
        self._tasks: defaultdict[str, dict[str, Task]] = defaultdict(dict)
        """By uid of the Plan that owns them, then by name."""
        self._by_uid: dict[str, Task] = {}
        """The same, by their own uid."""
        self._sessions: dict[str | None, dict[str, dict[str, AgentSession]]] = {}
        """By uid of the Plan that they name, then by that of the Task, then by name."""
        self._known: dict[str, _Spent] = {}
        """By uid of the Plan; of those with a budget that have Tasks."""

    def put_task(self, name: str, before: Task | None, after: Task | None) -> None:
        """The Task was `before` what it is now; None: it was not, or is not, there."""
        if before is not None and (uid := owners.plan_uid(before)) is not None:
            self._tasks[uid].pop(name, None)
            self._by_uid.pop(before.metadata.uid, None)
        if after is not None and (uid := owners.plan_uid(after)) is not None:
            self._tasks[uid][name] = after
            self._by_uid[after.metadata.uid] = after
        if _counts(before) == _counts(after):
            return
        for task in filter(None, (before, after)):
            uid = owners.plan_uid(task) or ""
            if not self._tasks.get(uid):
                self._tasks.pop(uid, None)
                self._known.pop(uid, None)
            elif (known := self._known.get(uid)) is not None:
                known.note(name, task.metadata.uid)

    def put_session(self, before: AgentSession | None, after: AgentSession | None) -> None:
        """A session was `before` what it is now; None: it was not, or is not, there."""
        if before is not None:
            _take(self._sessions, before)
        if after is not None:
            of_plan = self._sessions.setdefault(_named(after), {})
            of_plan.setdefault(after.spec.task_ref.uid, {})[after.metadata.name] = after
        for session in filter(None, (before, after)):
            of_task = session.spec.task_ref.uid
            plan = _named(session) or self._plan_of(of_task)
            if plan is not None and (known := self._known.get(plan)) is not None:
                known.note(None, of_task)

    def of(self, plan: Plan | None, project: Project) -> Decimal:
        """0 for one without a budget: nobody asks."""
        if plan is None or plan.spec.budget is None:
            return _NOTHING
        uid, prices = plan.metadata.uid, project.spec.budget.prices
        known = self._known.get(uid)
        if known is None or known.prices != prices or not known.goes_on_with(plan):
            known = self._known[uid] = _Spent(plan, prices)
            for name, task in self._tasks.get(uid, {}).items():
                known.note(name, task.metadata.uid)
            for of_task in self._sessions.get(uid, {}):
                known.note(None, of_task)
        known.put_plan(plan)
        self._look_again(uid, known, project)
        return known.all

    def _look_again(self, plan: str, known: _Spent, project: Project) -> None:
        tasks = self._tasks.get(plan, {})
        for name in known.names:
            known.put_settled(name, tasks.get(name))
        for uid in known.uids:
            is_its = self._plan_of(uid) == plan
            sessions = dict(self._sessions.get(plan, {}).get(uid, {}))
            if is_its:
                sessions |= self._sessions.get(None, {}).get(uid, {})
            known.put_sessions(uid, self._by_uid[uid] if is_its else None, sessions, project)
        known.names.clear()
        known.uids.clear()

    def _plan_of(self, task: str) -> str | None:
        """The uid of the Plan of the Task with this one."""
        found = self._by_uid.get(task)
        return owners.plan_uid(found) if found is not None else None


class _Spent:
    """What one Plan has spent, as of the last look."""

    def __init__(self, plan: Plan, prices: Sequence[Price]) -> None:
        self.prices = prices
        self.names: set[str] = set()
        self.uids: set[str] = set()
        """Names and uids of Tasks that are to be looked at again."""
        self._plan = plan
        self._rows: dict[str, PlanTask] = {}
        self._row_of: dict[str, PlanTask] = {}
        """Those that name a Task, by its uid."""
        self._settled: dict[str, Decimal] = {}
        """US dollars that Tasks and rows say, by name; without those that have cost nothing."""
        self._sum = _NOTHING
        """Of all these."""
        self._costs: dict[str, dict[str, Decimal]] = {}
        """US dollars of sessions beyond that, by uid of the Task, then by their own."""
        self._found: Decimal | None = None
        for row in plan.status.tasks:
            self._put_row(row)

    def note(self, name: str | None, uid: str) -> None:
        """The Task of this uid has changed, or one of its sessions; the former has this name."""
        self.uids.add(uid)
        if name is not None:
            self.names.add(name)

    def goes_on_with(self, plan: Plan) -> bool:
        """Whether it may be kept for this state of the Plan: its rows are of the same names."""
        old, new = self._plan.status.tasks, plan.status.tasks
        if len(old) != len(new):
            return False
        return all(was.name == row.name for was, row in changed_rows(old, new))

    def put_plan(self, plan: Plan) -> None:
        """The Plan is this now."""
        if plan is self._plan:
            return
        for _, row in changed_rows(self._plan.status.tasks, plan.status.tasks):
            self._put_row(row)
        self._plan, self._found = plan, None

    def _put_row(self, row: PlanTask) -> None:
        before = self._rows.get(row.name)
        if before is not None and before.uid is not None:
            self._row_of.pop(before.uid, None)
            self.uids.add(before.uid)
        self._rows[row.name] = row
        if row.uid is not None:
            self._row_of[row.uid] = row
            self.uids.add(row.uid)
        self.names.add(row.name)

    def put_settled(self, name: str, task: Task | None) -> None:
        """What is settled under this name is looked at again; `task` has it now."""
        amount = spend.settled_by(self._rows.get(name), task)
        self._sum += amount - self._settled.pop(name, _NOTHING)
        if amount:
            self._settled[name] = amount
        self._found = None

    def put_sessions(
        self, uid: str, task: Task | None, sessions: dict[str, AgentSession], project: Project
    ) -> None:
        """These are the sessions of the Task with this uid; None: it is gone."""
        row = self._row_of.get(uid)
        number = spend.settled_sessions(task) if task is not None else row.sessions if row else 0
        costs = {
            session.metadata.uid: spend.cost_of(session, project)
            for session in sessions.values()
            if session.spec.number > number
        }
        self._costs.pop(uid, None)
        if costs:
            self._costs[uid] = costs
        self._found = None

    @property
    def all(self) -> Decimal:
        """With what the Plan has settled of sessions that no Task counts."""
        if self._found is None:
            own = self._plan.status.settled or Settled()
            counted = frozenset(own.sessions)
            costs = (each for of_task in self._costs.values() for each in of_task.items())
            beyond = sum((cost for uid, cost in costs if uid not in counted), _NOTHING)
            self._found = self._sum + Decimal(own.spend_usd) + beyond
        return self._found


def _named(session: AgentSession) -> str | None:
    """The uid of the Plan that the session names."""
    return session.spec.plan_ref.uid if session.spec.plan_ref is not None else None


def _take(
    sessions: dict[str | None, dict[str, dict[str, AgentSession]]], session: AgentSession
) -> None:
    """The session out of all."""
    plan, task = _named(session), session.spec.task_ref.uid
    of_plan = sessions.get(plan, {})
    of_task = of_plan.get(task, {})
    of_task.pop(session.metadata.name, None)
    if not of_task:
        of_plan.pop(task, None)
    if not of_plan:
        sessions.pop(plan, None)


def _counts(task: Task | None) -> tuple[object, ...] | None:
    """What of a Task matters to what its Plan has spent."""
    if task is None:
        return None
    meta, status = task.metadata, task.status
    return meta.uid, owners.plan_uid(task), status.spend_usd, spend.settled_sessions(task)
