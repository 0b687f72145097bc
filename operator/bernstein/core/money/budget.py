"""What a Plan may still spend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cached_property

from bernstein import agents
from bernstein.api.plan import Plan
from bernstein.api.project import Project
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
    budget = Decimal(plan.spec.budget)
    if snapshot.plan_spend < budget:
        return None
    if not budget:
        return f"the Plan's budget of ${budget:.2f} lets no session start"
    return f"the Plan's budget of ${budget:.2f} is spent"


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
    """What Plans have spent so far, in US dollars; of all Tasks and sessions each one's own count.

    They are shared out at the first question, once for all Plans.
    """

    def __init__(
        self,
        project: Project,
        namespace: Mapping[str, Task],
        sessions: Iterable[AgentSession],
    ) -> None:
        self._project, self._namespace, self._every = project, namespace, sessions
        self._known: dict[str, Decimal] = {}

    def of(self, plan: Plan | None) -> Decimal:
        """0 for one without a budget: nobody asks."""
        if plan is None or plan.spec.budget is None:
            return Decimal(0)
        uid = plan.metadata.uid
        if uid not in self._known:
            tasks, sessions = self._tasks.get(uid, {}), self._sessions.get(uid, ())
            self._known[uid] = spend.plan_spend(plan.status, tasks, sessions, self._project)
        return self._known[uid]

    @cached_property
    def _tasks(self) -> Mapping[str, dict[str, Task]]:
        """By uid of the Plan, then by name."""
        found: dict[str, dict[str, Task]] = defaultdict(dict)
        for name, task in self._namespace.items():
            if (uid := owners.plan_uid(task)) is not None:
                found[uid][name] = task
        return found

    @cached_property
    def _sessions(self) -> Mapping[str, list[AgentSession]]:
        """By uid of the Plan. Sessions made by an older release do not name it."""
        plans = {t.metadata.uid: uid for uid, tasks in self._tasks.items() for t in tasks.values()}
        found: dict[str, list[AgentSession]] = defaultdict(list)
        for session in self._every:
            plan, task = session.spec.plan_ref, session.spec.task_ref.uid
            uid = plan.uid if plan is not None else plans.get(task)
            if uid is not None:
                found[uid].append(session)
        return found
