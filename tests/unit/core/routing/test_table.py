"""Model and effort of a step that does not say."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Agent, TierModels
from bernstein.api.signals import Assignment
from bernstein.core.routing.table import TOP_ROLES, route

PLAIN = Agent(name="a", adapter="demo", image="i")
NAMED = Agent.model_validate(
    {"name": "a", "adapter": "demo", "image": "i", "models": {"opus": "claude-opus-4-5"}}
)


@pytest.mark.parametrize(
    ("spec", "tier", "effort"),
    [
        ({}, "sonnet", "high"),
        ({"complexity": "low"}, "sonnet", "normal"),
        ({"complexity": "high", "scope": "large"}, "opus", "high"),
        ({"complexity": "high"}, "sonnet", "high"),
        ({"scope": "large"}, "sonnet", "high"),
        ({"model": "haiku"}, "haiku", "high"),
        ({"model": "auto"}, "sonnet", "high"),
        ({"effort": "low"}, "sonnet", "low"),
        ({"role": "architect", "model": "haiku", "effort": "normal"}, "haiku", "normal"),
        ({"model": "gpt-5"}, "gpt-5", "high"),
    ],
)
def test_the_step_says_then_the_table(spec: dict[str, Any], tier: str, effort: str) -> None:
    found = route(Assignment.model_validate(spec), PLAIN)

    assert (found.tier, found.model, found.effort) == (tier, tier, effort)


@pytest.mark.parametrize("role", sorted(TOP_ROLES))
def test_some_roles_get_the_most_capable_model(role: str) -> None:
    found = route(Assignment(role=role, complexity="low"), PLAIN)

    assert (found.tier, found.effort) == ("opus", "max")


def test_the_agent_names_the_models_of_its_tiers() -> None:
    assert route(Assignment(model="opus"), NAMED).model == "claude-opus-4-5"
    assert route(Assignment(model="sonnet"), NAMED).model == "sonnet"
    assert route(Assignment(model="name"), NAMED).model == "name"


@pytest.mark.parametrize("tier", ["opus", "sonnet", "haiku"])
def test_each_tier_may_have_a_model_of_the_agents_own(tier: str) -> None:
    named = PLAIN.model_copy(update={"models": TierModels.model_validate({tier: "own"})})

    assert route(Assignment(model=tier), named).model == "own"
