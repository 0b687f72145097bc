"""What a Plan may still spend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

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


def spend_of_plan(
    plan: Plan,
    project: Project,
    namespace: Mapping[str, Task],
    sessions: Iterable[AgentSession],
) -> Decimal:
    """US dollars that the Plan has spent so far; of all Tasks and sessions its own count."""
    tasks = {
        name: task for name, task in namespace.items() if owners.plan_uid(task) == plan.metadata.uid
    }
    task_uids = {task.metadata.uid for task in tasks.values()}
    own = (
        session
        for session in sessions
        # Sessions made by an older release do not name their Plan.
        if spend.belongs(session, plan)
        or (session.spec.plan_ref is None and session.spec.task_ref.uid in task_uids)
    )
    return spend.plan_spend(plan.status, tasks, own, project)
