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
    if spec.budget is None:
        return None
    steps = (step for stage in spec.stages for step in stage.steps)
    chosen = (project.agent(step.cli or spec.cli) for step in steps)
    silent = {a.name: a.adapter for a in chosen if a and not agents.tells_tokens(a.adapter)}
    if not silent:
        return None
    named = ", ".join(f"'{name}' (adapter {adapter})" for name, adapter in silent.items())
    who, verb = ("agent", "does") if len(silent) == 1 else ("agents", "do")
    return (
        f"{who} {sanitise(named, _NAMED)} {verb} not tell what is spent: it counts as nothing, "
        "and the budget does not stop it"
    )


def warned(spec: PlanSpec, project: ProjectSpec | None) -> tuple[FieldError, ...]:
    """The same for whoever submits the Plan."""
    text = not_enforced(spec, project) if project is not None else None
    return (FieldError("budget", f"budget: {text}"),) if text is not None else ()


def enforced(status: PlanStatus, plan: Plan, project: Project, now: datetime) -> PlanStatus:
    """The status with the condition that warns of it, or without."""
    kind, text = ConditionType.BUDGET_NOT_ENFORCED, not_enforced(plan.spec, project.spec)
    if text is None:
        kept = conditions.drop(status.conditions, kind)
        return status.model_copy(update={"conditions": kept})
    return note(status, kind, True, "TokensNotReported", text, now)
