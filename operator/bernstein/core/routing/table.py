"""Which model and effort a step gets."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.project import Agent
from bernstein.api.signals import Assignment
from bernstein.api.vocabulary import Effort

TOP_ROLES = frozenset({"manager", "architect", "security", "analyst", "visionary", "vp"})
_TIERS = ("opus", "sonnet", "haiku")


@dataclass(frozen=True)
class ModelRoute:
    """What a session runs with."""

    tier: str
    """opus, sonnet, haiku, or a provider's own name that the step chose."""
    model: str
    """The provider's name for it."""
    effort: Effort


def route(work: Assignment, agent: Agent) -> ModelRoute:
    """What the step says itself; else by its role, else by its scope and complexity."""
    tier, effort = _by_table(work)
    if work.model not in (None, "auto"):
        tier = work.model
    configured: str | None = getattr(agent.models, tier, None) if tier in _TIERS else None
    return ModelRoute(tier=tier, model=configured or tier, effort=work.effort or effort)


def tier_of(model: str, agent: Agent | None) -> str:
    """The tier whose model of this agent it is; without one the model itself, which may be a tier's
    own name."""
    if agent is None:
        return model
    return next((tier for tier in _TIERS if getattr(agent.models, tier) == model), model)


def _by_table(work: Assignment) -> tuple[str, Effort]:
    if work.role in TOP_ROLES:
        return "opus", "max"
    if work.complexity == "high" and work.scope == "large":
        return "opus", "high"
    if work.complexity == "low":
        return "sonnet", "normal"
    return "sonnet", "high"
