"""What Tasks and Plans have cost so far."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from bernstein.api.plan import Plan
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.pricing import cost, price_of

_WITH_SESSION = (TaskState.CLAIMED, TaskState.IN_PROGRESS)


def live_spend(task: Task, session: AgentSession | None, project: Project | None) -> Decimal:
    """US dollars of a Task so far, its running session's report included."""
    spent = Decimal(task.status.spend_usd)
    if task.status.state not in _WITH_SESSION or session is None:
        return spent
    usage = session.status.usage or (session.status.report and session.status.report.usage)
    overrides = project.spec.budget.prices if project else ()
    price = price_of(session.spec.model, overrides)
    return spent + cost(usage, price) if usage and price else spent


def plan_spend(plan: Plan, spends: Mapping[str, Decimal]) -> Decimal:
    """US dollars of a Plan; Tasks that were deleted keep what the Plan knew of them."""
    gone = (Decimal(t.spend_usd) for t in plan.status.tasks if t.name not in spends)
    return sum(gone, Decimal(0)) + sum(spends.values(), Decimal(0))
