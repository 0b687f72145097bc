"""Which models a step may name: tiers, and what the Project's agents or a table of prices know."""

from __future__ import annotations

from bernstein.api.prices import built_in
from bernstein.api.project import ProjectSpec, TierModels
from bernstein.core.money.pricing import price_of

AUTO = "auto"
TIERS = tuple(TierModels.model_fields)


def known(project: ProjectSpec) -> tuple[str, ...]:
    """Their names, in that order. Of a table's names any longer one is known, too."""
    of_agents = (getattr(a.models, tier) for a in project.agents for tier in TIERS)
    priced = (price.model for price in (*project.budget.prices, *built_in()))
    return tuple(dict.fromkeys((AUTO, *TIERS, *filter(None, of_agents), *priced)))


def is_known(model: str | None, project: ProjectSpec) -> bool:
    """Whether a step of this Project may have it; None is not to name one."""
    if model is None or model in known(project):
        return True
    return price_of(model, project.budget.prices) is not None
