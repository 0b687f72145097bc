"""What a draft may cost, before it is a plan: its steps by their complexity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from bernstein.api.plan import MAX_STAGES, MAX_STEPS, PlanSpec, Stage, Step
from bernstein.api.vocabulary import COMPLEXITIES, ROLES, SCOPES
from bernstein.core.plans.estimate import estimate
from bernstein.core.plans.fields import steps_of

_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "role": ROLES,
    "scope": SCOPES,
    "complexity": COMPLEXITIES,
    "model": ("opus", "sonnet", "haiku"),
}


def cost(data: Mapping[Any, Any]) -> str | None:
    """US dollars of all steps, each counted with its default where it says nothing that is known;
    None: there are none."""
    steps = tuple(islice(_steps(data), MAX_STAGES * MAX_STEPS))
    if not steps:
        return None
    stages = tuple(
        Stage(name=str(number), steps=steps[first : first + MAX_STEPS])
        for number, first in enumerate(range(0, len(steps), MAX_STEPS))
    )
    return estimate(PlanSpec(name="draft", stages=stages)).cost_usd


def _steps(data: Mapping[Any, Any]) -> Iterator[Step]:
    for _, step in steps_of(data):
        known = {name: step[name] for name, words in _WORDS.items() if step.get(name) in words}
        yield Step.model_validate({"title": "step", **known})
