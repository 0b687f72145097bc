"""What a plan holds as scripts read it: the fields of plan files, in lower snake case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic.alias_generators import to_snake

from bernstein.api.plan import Stage, Step
from bernstein.api.plans.workflow import Node
from bernstein.api.signals import STEP_MINUTES, Assignment
from bernstein.api.task import TaskSpec
from bernstein.core.drawing.model import Drawing
from bernstein.core.drawing.model import Node as Drawn
from bernstein.core.outlines.outline import NodeTask, Outline, StepTask, Subtask
from bernstein.core.plans.estimate import minutes_of
from bernstein.core.serializers import Document, decided, edge_record, estimate_record

_WHOLE = {
    "stages",
    "workflow",
    "name",
    "budget",
    "approval",
    "suspend",
    "cancel",
    "requests",
    "author",
}
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
        "workflow": _workflow(outline),
    }


def _workflow(outline: Outline) -> Document | None:
    """Its nodes in the order of the plan, with the phase that each is of."""
    workflow = outline.spec.workflow
    if workflow is None:
        return None
    told = {each.node.name: _node(outline, each) for _, its in outline.phases for each in its}
    return {
        "version": workflow.version,
        "phases": [phase.model_dump(mode="json", by_alias=False) for phase in workflow.phases],
        "nodes": [told[node.name] for node in workflow.nodes],
    }


def _node(outline: Outline, each: NodeTask) -> Document:
    node, standing = each.node, each.standing
    said = node.model_dump(mode="json", by_alias=False, include={"name", "phase", "join", "retry"})
    return {
        **said,
        "title": node.heading,
        **_assignment(outline, node, each.task),
        "depends_on": [edge_record(*pair) for pair in decided(node, standing)],
        "state": to_snake(standing.state) if standing is not None else None,
        "run": standing.run if standing is not None else 0,
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
    return {
        "title": step.heading,
        "depends_on_repo": step.depends_on_repo,
        **_assignment(outline, step, task),
        "subtasks": [
            {"title": part.heading, **_assignment(outline, part, None)} for part in step.parts
        ],
    }


def _assignment(outline: Outline, work: Step | Node, task: StepTask | None) -> Document:
    """What steps and nodes say alike."""
    route = outline.route(work)
    return {
        **work.model_dump(mode="json", by_alias=False, include={*Assignment.model_fields, "repo"}),
        "completion_signals": [s.model_dump(exclude_none=True) for s in work.completion_signals],
        "model": route.model,
        "effort": route.effort,
        "model_is_chosen": work.model not in (None, "auto"),
        "estimated_minutes": _minutes(work),
        "task": task.name if task is not None else None,
        "status": task.status if task is not None else None,
        "split_into": [_subtask(outline, part) for part in outline.split(task)],
    }


def _subtask(outline: Outline, part: Subtask) -> Document:
    """What is not known of one whose Task is not there is null."""
    spec = part.spec
    route = outline.route(spec) if spec is not None else None
    return {
        "task": part.task.name,
        "parent": part.parent,
        "title": part.title,
        "role": spec.role if spec is not None else None,
        "model": route.model if route is not None else None,
        "effort": route.effort if route is not None else None,
        "estimated_minutes": _minutes(spec) if spec is not None else None,
        "status": part.task.status,
    }


def _minutes(work: Step | Node | TaskSpec) -> int:
    return minutes_of(work) if isinstance(work, Step) else work.estimated_minutes or STEP_MINUTES


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
                "minutes": _minutes(work),
                "task": task.name if task is not None else None,
                "status": task.status if task is not None else None,
                "is_critical": node.id in critical,
                "split_into": _parts(node, outline.split(task)),
                **more,
            }
            for node, (work, task, more) in zip(drawing.nodes, _work(outline), strict=True)
        ],
        "groups": [
            {"id": group.id, "title": group.title, "nodes": list(group.members)}
            for group in drawing.groups
        ],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "label": edge.label or None,
                "is_loop": edge.is_loop,
            }
            for edge in drawing.edges
        ],
    }


def _parts(node: Drawn, subtasks: Iterable[Subtask]) -> list[Document]:
    """The parts of a node, with their ids; `subtasks`: the same in the same order."""
    ids = (part.id for depth, part in node.family if depth)
    return [
        {
            "id": id_,
            "task": each.task.name,
            "parent": each.parent,
            "title": each.title,
            "role": each.spec.role if each.spec is not None else None,
            "minutes": _minutes(each.spec) if each.spec is not None else None,
            "status": each.task.status,
        }
        for id_, each in zip(ids, subtasks, strict=True)
    ]


def _work(outline: Outline) -> Iterator[tuple[Step | Node, StepTask | None, Document]]:
    """Each step, or node, in the order of the drawing: with its Task, and what only nodes have."""
    for _, steps in outline.stages:
        yield from ((step, task, {}) for step, task in steps)
    known = {each.node.name: each for _, its in outline.phases for each in its}
    for node in outline.spec.workflow.nodes if outline.spec.workflow is not None else ():
        standing = known[node.name].standing
        state = to_snake(standing.state) if standing is not None else None
        more = {"state": state, "run": standing.run if standing is not None else 0}
        yield node, known[node.name].task, more
