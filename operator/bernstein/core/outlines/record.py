"""What a plan holds as scripts read it: the fields of plan files, in lower snake case."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.plan import Stage, Step
from bernstein.api.signals import STEP_MINUTES
from bernstein.core.drawing.model import Drawing
from bernstein.core.outlines.outline import Outline, StepTask
from bernstein.core.serializers import Document, estimate_record

_WHOLE = {"stages", "name", "budget", "approval", "suspend", "cancel", "requests", "author"}
"""Fields of a Plan that are told otherwise, or say nothing about what it holds."""


def outline_record(outline: Outline) -> Document:
    """All of a plan; `id` is null where it is a file."""
    spec, budget = outline.spec, outline.spec.budget
    return {
        "id": outline.name,
        "name": spec.name,
        **spec.model_dump(mode="json", by_alias=False, exclude=_WHOLE),
        "budget_usd": None if budget is None else float(budget),
        "approval": outline.approval.model_dump(mode="json", by_alias=False),
        "estimate": estimate_record(outline.estimate),
        "stages": [_stage(outline, stage, steps) for stage, steps in outline.stages],
    }


def _stage(
    outline: Outline, stage: Stage, steps: tuple[tuple[Step, StepTask | None], ...]
) -> Document:
    return {
        "name": stage.name,
        "description": stage.description,
        "depends_on": list(outline.after[stage.name]),
        "repo": stage.repo,
        "steps": [_step(outline, step, task) for step, task in steps],
    }


def _step(outline: Outline, step: Step, task: StepTask | None) -> Document:
    route = outline.route(step)
    return {
        "title": step.heading,
        **step.model_dump(mode="json", by_alias=False, exclude={"title", "goal"}),
        "completion_signals": [s.model_dump(exclude_none=True) for s in step.completion_signals],
        "model": route.model,
        "effort": route.effort,
        "model_is_chosen": step.model not in (None, "auto"),
        "estimated_minutes": step.estimated_minutes or STEP_MINUTES,
        "task": task.name if task is not None else None,
        "status": task.status if task is not None else None,
    }


def graph_record(outline: Outline, drawing: Drawing) -> Document:
    """What there is to draw: edges lead from a step or a group to another, and mean all of it."""
    critical = frozenset(drawing.critical)
    return {
        "id": outline.name,
        "name": drawing.title,
        "estimate": estimate_record(outline.estimate),
        "critical_path": list(drawing.critical),
        "nodes": [
            {
                "id": node.id,
                "title": node.title,
                "role": node.role,
                "minutes": step.estimated_minutes or STEP_MINUTES,
                "task": task.name if task is not None else None,
                "status": task.status if task is not None else None,
                "is_critical": node.id in critical,
            }
            for node, (step, task) in zip(drawing.nodes, _steps(outline), strict=True)
        ],
        "groups": [
            {"id": group.id, "title": group.title, "nodes": list(group.members)}
            for group in drawing.groups
        ],
        "edges": [{"source": edge.source, "target": edge.target} for edge in drawing.edges],
    }


def _steps(outline: Outline) -> Iterator[tuple[Step, StepTask | None]]:
    for _, steps in outline.stages:
        yield from steps
