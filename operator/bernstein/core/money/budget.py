"""What a Plan may still spend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from bernstein import agents
from bernstein.api.plan import Plan
from bernstein.api.project import Price, Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.money import spend
from bernstein.core.money.pricing import price_of
from bernstein.core.routing.choose import route_of
from bernstein.core.snapshot import TaskSnapshot


def spent(snapshot: TaskSnapshot) -> str | None:
    """Why the Plan may not spend more, in words; None: money is left, or there is no budget.

    The words stay the same while agents at work spend more: they are written on every Task.
    """
    plan = snapshot.plan
    if plan is None or plan.spec.budget is None:
        return None
    if not is_spent(plan, snapshot.plan_spend):
        return None
    budget = Decimal(plan.spec.budget)
    if not budget:
        return f"the Plan's budget of ${budget:.2f} lets no session start"
    return f"the Plan's budget of ${budget:.2f} is spent"


def is_spent(plan: Plan, spent: Decimal) -> bool:
    """Whether a Plan that has spent so many US dollars may spend no more."""
    return plan.spec.budget is not None and spent >= Decimal(plan.spec.budget)


def unpriced(snapshot: TaskSnapshot) -> str | None:
    """Why the Plan's budget cannot be kept, in words: nobody knows the price of the model."""
    plan, project = snapshot.plan, snapshot.project
    if plan is None or plan.spec.budget is None or project is None:
        return None
    budget, model = project.spec.budget, route_of(snapshot).model
    if budget.on_unpriced == "allow" or price_of(model, budget.prices) is not None:
        return None
    return f"the Plan has a budget, and model '{model}' has no price"


def unreported(snapshot: TaskSnapshot) -> str | None:
    """The same where the price would not help: the agent's CLI tells no tokens."""
    plan, project = snapshot.plan, snapshot.project
    if plan is None or plan.spec.budget is None or project is None:
        return None
    agent = project.spec.agent(snapshot.task.spec.cli)
    if project.spec.budget.on_unpriced == "allow" or agent is None:
        return None
    if agents.tells_tokens(agent.adapter):
        return None
    which = f"agent '{agent.name}' (adapter {agent.adapter})"
    return f"the Plan has a budget, and {which} does not tell what it spends"


class Spending:
    """What Plans have spent so far, in US dollars; kept between two looks.

    Sessions made by an older release do not name the Plan: they count by their Task.
    """

    def __init__(self) -> None:
        self._tasks: defaultdict[str, dict[str, Task]] = defaultdict(dict)
        """By uid of the Plan that owns them, then by name."""
        self._sessions: defaultdict[str, dict[str, AgentSession]] = defaultdict(dict)
        """By uid of the Plan that they name, then by name."""
        self._of_tasks: defaultdict[str, dict[str, AgentSession]] = defaultdict(dict)
        """Those that name none, by uid of the Task, then by name."""
        self._plan_of: dict[str, str] = {}
        """The uid of the Plan of each Task, by the Task's own."""
        self._known: dict[str, tuple[Plan, Sequence[Price], Decimal]] = {}
        """What was found, with the Plan and the prices as they were then, by uid of the Plan."""

    def put_task(self, name: str, before: Task | None, after: Task | None) -> None:
        """The Task was `before` what it is now; None: it was not, or is not, there."""
        if before is not None and (uid := owners.plan_uid(before)) is not None:
            self._tasks[uid].pop(name, None)
            self._plan_of.pop(before.metadata.uid, None)
            if not self._tasks[uid]:
                del self._tasks[uid]
        if after is not None and (uid := owners.plan_uid(after)) is not None:
            self._tasks[uid][name] = after
            self._plan_of[after.metadata.uid] = uid
        if _counts(before) != _counts(after):
            for task in filter(None, (before, after)):
                self._known.pop(owners.plan_uid(task) or "", None)

    def put_session(self, before: AgentSession | None, after: AgentSession | None) -> None:
        """A session was `before` what it is now; None: it was not, or is not, there."""
        for session in filter(None, (before, after)):
            if session.spec.plan_ref is None:
                of, uid = self._of_tasks, session.spec.task_ref.uid
                self._known.pop(self._plan_of.get(uid, ""), None)
            else:
                of, uid = self._sessions, session.spec.plan_ref.uid
                self._known.pop(uid, None)
            if session is after:
                of[uid][session.metadata.name] = session
            else:
                of[uid].pop(session.metadata.name, None)
            if not of[uid]:
                del of[uid]

    def of(self, plan: Plan | None, project: Project) -> Decimal:
        """0 for one without a budget: nobody asks."""
        if plan is None or plan.spec.budget is None:
            return Decimal(0)
        uid, prices = plan.metadata.uid, project.spec.budget.prices
        known = self._known.get(uid)
        if known is None or known[0] is not plan or known[1] != prices:
            tasks = self._tasks.get(uid, {})
            spent = spend.plan_spend(plan.status, tasks, self._sessions_of(uid), project)
            known = self._known[uid] = plan, prices, spent
        return known[2]

    def _sessions_of(self, uid: str) -> list[AgentSession]:
        by_task = (self._of_tasks.get(t.metadata.uid) for t in self._tasks.get(uid, {}).values())
        found = (self._sessions.get(uid), *by_task)
        return [session for sessions in found if sessions for session in sessions.values()]


def _counts(task: Task | None) -> tuple[object, ...] | None:
    """What of a Task matters to what its Plan has spent."""
    if task is None:
        return None
    meta, status = task.metadata, task.status
    return meta.uid, owners.plan_uid(task), status.spend_usd, spend.settled_sessions(task)
