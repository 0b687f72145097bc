"""What a Plan may still spend."""

from __future__ import annotations

from decimal import Decimal

from bernstein import agents
from bernstein.api.plan import Plan
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


def spent_on_work(snapshot: TaskSnapshot) -> str:
    """Why no model is asked about the work of a Task that is done, in words; "": one may be.

    By what the Plan's status tells: what agents spend at this moment is not in it.
    """
    plan, of_task = snapshot.plan, _left_of_task(snapshot)
    if plan is not None and is_spent(plan, Decimal(plan.status.spend_usd)):
        which = f"the Plan's budget of ${Decimal(plan.spec.budget or 0):.2f}"
    elif of_task is not None and of_task <= 0:
        which = f"the Project's limits.modelsUsdPerTask of ${_limit_of_task(snapshot):.2f}"
    else:
        return ""
    return f"{which} is spent, and a model is to be asked of its work"


def left_for_models(snapshot: TaskSnapshot) -> Decimal | None:
    """US dollars that models may cost that are asked about the work of a Task that is done; None:
    nobody counts them. By what the Plan's status tells, as above."""
    plan, of_task = snapshot.plan, _left_of_task(snapshot)
    of_plan = (
        Decimal(plan.spec.budget) - Decimal(plan.status.spend_usd)
        if plan is not None and plan.spec.budget is not None
        else None
    )
    counted = [left for left in (of_plan, of_task) if left is not None]
    return max(min(counted), Decimal(0)) if counted else None


def _left_of_task(snapshot: TaskSnapshot) -> Decimal | None:
    """US dollars that models may still cost for this Task; None: it has no limit of its own."""
    limit = _limit_of_task(snapshot)
    return None if limit is None else limit - Decimal(snapshot.task.status.models_usd or 0)


def _limit_of_task(snapshot: TaskSnapshot) -> Decimal | None:
    project = snapshot.project
    limit = project.spec.limits.models_usd_per_task if project is not None else None
    return None if limit is None else Decimal(limit)


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
