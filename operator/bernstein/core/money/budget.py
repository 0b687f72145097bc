"""What a Plan may still spend."""

from __future__ import annotations

from decimal import Decimal

from bernstein.core import owners
from bernstein.core.money import spend
from bernstein.core.money.pricing import price_of
from bernstein.core.routing.choose import route_of
from bernstein.core.snapshot import TaskSnapshot


def spent(snapshot: TaskSnapshot) -> str | None:
    """Why the Plan may not spend more, in words; None: money is left, or there is no budget."""
    plan = snapshot.plan
    if plan is None or plan.spec.budget is None:
        return None
    total, budget = spend_of_plan(snapshot), Decimal(plan.spec.budget)
    if total < budget:
        return None
    return f"${total:.2f} of the Plan's budget of ${budget:.2f} is spent"


def unpriced(snapshot: TaskSnapshot) -> str | None:
    """Why the Plan's budget cannot be kept, in words: nobody knows the price of the model."""
    plan, project = snapshot.plan, snapshot.project
    if plan is None or plan.spec.budget is None or project is None:
        return None
    budget, model = project.spec.budget, route_of(snapshot).model
    if budget.on_unpriced == "allow" or price_of(model, budget.prices) is not None:
        return None
    return f"the Plan has a budget, and model '{model}' has no price"


def spend_of_plan(snapshot: TaskSnapshot) -> Decimal:
    """US dollars that the Task's Plan has spent so far."""
    assert snapshot.plan is not None
    plan = snapshot.plan
    tasks = {
        name: task
        for name, task in snapshot.tasks.items()
        if owners.plan_uid(task) == plan.metadata.uid
    }
    task_uids = {task.metadata.uid for task in tasks.values()}
    sessions = (
        session
        for session in snapshot.sessions.values()
        # Sessions made by an older release do not name their Plan.
        if spend.belongs(session, plan)
        or (session.spec.plan_ref is None and session.spec.task_ref.uid in task_uids)
    )
    return spend.plan_spend(plan.status, tasks, sessions, snapshot.project)
