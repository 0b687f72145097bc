"""Which model and effort a step gets, when it does not say."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.project import Agent
from bernstein.api.signals import Effort, Work

TOP_ROLES = frozenset({"manager", "architect", "security", "analyst", "visionary", "vp"})


@dataclass(frozen=True)
class Route:
    tier: str
    """opus, sonnet, haiku, or a provider's own name that the step chose."""
    model: str
    """The provider's name."""
    effort: Effort


def route(work: Work, agent: Agent) -> Route:
    """The step's model and effort > role > scope and complexity."""
    tier, effort = _by_table(work)
    if work.model not in (None, "auto"):
        tier = work.model
    named: str | None = getattr(agent.models, tier, None) if tier in _TIERS else None
    return Route(tier=tier, model=named or tier, effort=work.effort or effort)


_TIERS = ("opus", "sonnet", "haiku")


def _by_table(work: Work) -> tuple[str, Effort]:
    if work.role in TOP_ROLES:
        return "opus", "max"
    if work.complexity == "high" and work.scope == "large":
        return "opus", "high"
    if work.complexity == "low":
        return "sonnet", "normal"
    return "sonnet", "high"
