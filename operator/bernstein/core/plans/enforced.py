"""Whether a Plan's budget holds: it counts what agents tell, and not every one tells anything."""

from __future__ import annotations

from datetime import datetime

from bernstein import agents
from bernstein.api.meta import ConditionType
from bernstein.api.plan import Plan, PlanSpec, PlanStatus
from bernstein.api.project import Project, ProjectSpec
from bernstein.core import conditions
from bernstein.core.conditions import note
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.sanitise import text as sanitise

_NAMED = 500
"""Characters for the names of agents."""


def not_enforced(spec: PlanSpec, project: ProjectSpec) -> str | None:
    """Why the Plan's budget does not stop what its steps spend; None: it does, or there is none."""
    who = _silent(spec, project)
    if who is None or project.budget.on_unpriced == "deny":
        return None  # what a Project denies does not start
    return f"{who} not tell what is spent: it counts as nothing, and the budget does not stop it"


def _denied(spec: PlanSpec, project: ProjectSpec) -> str | None:
    """Why sessions of some of its steps do not start; None: they do."""
    who = _silent(spec, project)
    if who is None or project.budget.on_unpriced == "allow":
        return None
    told = f"{who} not tell what is spent, and the Project says `onUnpriced: deny`"
    return f"{told}: no session of it starts"


def _silent(spec: PlanSpec, project: ProjectSpec) -> str | None:
    """Agents of its steps that tell no tokens, with the verb; None: all do, or nobody asks."""
    if spec.budget is None:
        return None
    tells = {a.adapter: agents.tells_tokens(a.adapter) for a in project.agents}
    if all(tells.values()):
        return None
    # Each look at a Plan of thousands of steps asks: few differ in the agent that they name.
    named = dict.fromkeys([work.given.cli for work in spec.work])
    chosen = (project.agent(cli or spec.cli) for cli in named)
    silent = {a.name: a.adapter for a in chosen if a and not tells[a.adapter]}
    if not silent:
        return None
    told = ", ".join(f"'{name}' (adapter {adapter})" for name, adapter in silent.items())
    who, verb = ("agent", "does") if len(silent) == 1 else ("agents", "do")
    return f"{who} {sanitise(told, _NAMED)} {verb}"


def warned(spec: PlanSpec, project: ProjectSpec | None) -> tuple[FieldError, ...]:
    """The same for whoever submits the Plan."""
    if project is None:
        return ()
    text = not_enforced(spec, project) or _denied(spec, project)
    return (FieldError("budget", f"budget: {text}"),) if text is not None else ()


def enforced(status: PlanStatus, plan: Plan, project: Project, now: datetime) -> PlanStatus:
    """The status with the condition that warns of it, or without."""
    kind, text = ConditionType.BUDGET_NOT_ENFORCED, not_enforced(plan.spec, project.spec)
    if text is None:
        kept = conditions.drop(status.conditions, kind)
        return status.model_copy(update={"conditions": kept})
    return note(status, kind, True, "TokensNotReported", text, now)
