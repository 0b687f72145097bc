"""Words about a plan that its commands share."""

from __future__ import annotations

from bernstein.api.plan import Estimate, PlanSpec
from bernstein.core.sanitise import count


def summary(spec: PlanSpec, guess: Estimate) -> str:
    """One line: size, time and money."""
    if spec.workflow is not None:
        phases, nodes = len(spec.workflow.phases), len(spec.workflow.nodes)
        return f"{count(phases, 'phase')}, {count(nodes, 'node')}, {forecast(spec, guess)}"
    steps = sum(len(stage.steps) for stage in spec.stages)
    size = f"{count(len(spec.stages), 'stage')}, {count(steps, 'step')}"
    parts = sum(len(step.subtasks) for stage in spec.stages for step in stage.steps)
    if parts:
        size = f"{size}, {count(parts, 'subtask')}"
    return f"{size}, {forecast(spec, guess)}"


def forecast(spec: PlanSpec, guess: Estimate) -> str:
    """Time and money, as far as they are known."""
    cost = f", about ${float(guess.cost_usd):.2f}" if guess.cost_usd else ""
    budget = f" of a budget of ${float(spec.budget):.2f}" if cost and spec.budget else ""
    return f"about {duration(guess.minutes)}{cost}{budget}"


def duration(minutes: int) -> str:
    """Such as `1 h 05 min`."""
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02} min" if hours else f"{rest} min"
