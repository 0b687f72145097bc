"""The stages of a plan as something to draw."""

from __future__ import annotations

from collections.abc import Iterator

from bernstein.api.plan import PlanSpec, Step
from bernstein.api.plans.workflow import Workflow
from bernstein.api.projects.subtasks import MOST_DEPTH
from bernstein.api.signals import STEP_MINUTES
from bernstein.core.drawing.model import Drawing, Edge, Group, Node, Tone
from bernstein.core.outlines import nodes
from bernstein.core.outlines.outline import NodeTask, Outline, StepTask, Subtask
from bernstein.core.outlines.words import duration, summary
from bernstein.core.plans.estimate import critical_nodes, critical_steps, minutes_of
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.plans.workflows.definition import Definition
from bernstein.core.projects import repositories

TONES: dict[str, Tone] = {
    "closed": "done",
    "done": "verifying",
    "claimed": "running",
    "in_progress": "running",
    "waiting_for_subtasks": "running",
    "failed": "failed",
    "orphaned": "failed",
    "blocked": "failed",
    "cancelled": "cancelled",
}
"""By status of a Task; of all others nothing has begun."""


def drawn(outline: Outline) -> Drawing:
    """A node for each step, in a group for each stage; an edge for each stage that comes first, and
    for each repository that a step waits for. Of a workflow a node for each of its nodes, in a
    group for each phase, and an edge for each that is one there and for each way back. What a Task
    was split into are parts of its node."""
    if outline.spec.workflow is not None:
        return _of_workflow(outline, outline.spec.workflow)
    every: list[Node] = []
    groups: list[Group] = []
    for number, (stage, steps) in enumerate(outline.stages):
        its = [_node(outline, number, at, *each) for at, each in enumerate(steps)]
        every += its
        groups.append(Group(_stage(number), stage.name, tuple(node.id for node in its)))
    place = {stage.name: number for number, stage in enumerate(outline.spec.stages)}
    edges = [
        Edge(_stage(place[before]), _stage(place[name]))
        for name, upstream in outline.after.items()
        for before in upstream
    ]
    awaited = dict(_awaited(outline.spec))
    groups += _repositories(outline.spec, set(awaited.values()))
    known = {group.id for group in groups}
    waits = ((_repository(called), step) for step, called in awaited.items())
    edges += [Edge(before, step) for before, step in waits if before in known]
    return Drawing(
        title=outline.spec.name,
        nodes=tuple(every),
        groups=tuple(groups),
        edges=tuple(edges),
        critical=tuple(_id(*place) for place in critical_steps(outline.spec)),
        notes=(summary(outline.spec, outline.estimate), f"({outline.estimate.basis})"),
    )


def _id(stage: int, step: int) -> str:
    """People count from one."""
    return f"step {stage + 1}.{step + 1}"


def _stage(number: int) -> str:
    return f"stage {number + 1}"


def _repository(called: str) -> str:
    return f"repository {called}"


def _node(outline: Outline, stage: int, at: int, step: Step, task: StepTask | None) -> Node:
    status = task.status if task is not None else ""
    return Node(
        id=_id(stage, at),
        title=step.heading,
        role=step.role,
        time=duration(minutes_of(step)),
        state=status.replace("_", " "),
        tone=TONES.get(status, "waiting") if outline.tasks else "",
        parts=_parts(outline, _id(stage, at), task),
    )


def _parts(outline: Outline, id_: str, task: StepTask | None, depth: int = 1) -> tuple[Node, ...]:
    """What the Task of the node with this id was split into."""
    if depth > MOST_DEPTH:
        return ()
    own = (part for part in outline.split(task) if part.depth == 1)
    return tuple(
        _part(outline, f"{id_}.{number}", part, depth) for number, part in enumerate(own, 1)
    )


def _part(outline: Outline, id_: str, part: Subtask, depth: int) -> Node:
    spec, status = part.spec, part.task.status
    return Node(
        id=id_,
        title=part.title,
        role=spec.role if spec is not None else "",
        time=duration(spec.estimated_minutes or STEP_MINUTES) if spec is not None else "",
        state=status.replace("_", " "),
        tone=TONES.get(status, "waiting"),
        parts=_parts(outline, id_, part.task, depth + 1),
    )


def _awaited(spec: PlanSpec) -> Iterator[tuple[str, str]]:
    """(id of a step, the repository that it waits for)."""
    for number, stage in enumerate(spec.stages):
        for at, step in enumerate(stage.steps):
            its = repositories.entry(spec, step.depends_on_repo) if step.depends_on_repo else None
            if its is not None:
                yield _id(number, at), its.called


def _repositories(spec: PlanSpec, awaited: set[str]) -> Iterator[Group]:
    """Those repositories with the steps that work there."""
    members: dict[str, list[str]] = {called: [] for called in sorted(awaited)}
    for number, stage in enumerate(spec.stages):
        for at, step in enumerate(stage.steps):
            its = repositories.entry(spec, step.repo or stage.repo)
            if its is not None and its.called in members:
                members[its.called].append(_id(number, at))
    for called, those in members.items():
        if those:
            yield Group(_repository(called), f"the repository {called}", tuple(those), framed=False)


# --- workflows ------------------------------------------------------------------------------------


def _of_workflow(outline: Outline, workflow: Workflow) -> Drawing:
    definition = definitions.of(workflow)
    phases = [*outline.phases]
    by_name = {each.node.name: _workflow_node(outline, each) for _, its in phases for each in its}
    groups = [
        Group(f"phase {number}", phase.name, tuple(each.node.name for each in its))
        for number, (phase, its) in enumerate(phases, 1)
        if its
    ]
    return Drawing(
        title=outline.spec.name,
        nodes=tuple(by_name[node.name] for node in workflow.nodes),
        groups=tuple(groups),
        edges=tuple(dict.fromkeys(_edges(definition))),
        critical=critical_nodes(workflow),
        notes=(summary(outline.spec, outline.estimate), f"({outline.estimate.basis})"),
    )


def _workflow_node(outline: Outline, each: NodeTask) -> Node:
    return Node(
        id=each.node.name,
        title=nodes.title(each.node),
        role=each.node.role,
        time=duration(each.node.estimated_minutes or STEP_MINUTES),
        state=nodes.state(each.standing),
        tone=nodes.TONES[each.standing.state] if each.standing is not None else "",
        parts=_parts(outline, each.node.name, each.task),
    )


def _edges(definition: Definition) -> Iterator[Edge]:
    """Each pair once for a label."""
    for node in definition.workflow.nodes:
        for edge in node.depends_on:
            yield Edge(edge.source, node.name, edge.condition or "")
    for node in definition.workflow.nodes:
        back = definition.mends.get(node.name, node.name)
        if definition.retry(node.name) is not None:
            yield Edge(node.name, back, nodes.again(definition, node, elsewhere=True), is_loop=True)
