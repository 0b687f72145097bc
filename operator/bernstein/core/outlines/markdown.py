"""What a plan holds as Markdown, for people who review it on a forge.

Words of who wrote the plan stand as code: they mean nothing to a forge, and are no Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bernstein.api.plan import Step
from bernstein.api.plans.workflow import Node
from bernstein.core.delivery.pull_request import block, code
from bernstein.core.drawing import mermaid
from bernstein.core.outlines import nodes
from bernstein.core.outlines.graph import drawn
from bernstein.core.outlines.outline import (
    Fact,
    NodeTask,
    Outline,
    StepTask,
    minutes,
    signal_titles,
    split_into,
)
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.plans.workflows.definition import Definition

_LONGEST = 8192
"""Characters: no text of a plan has more."""


def markdown(outline: Outline) -> str:
    """All of it, as long as the plan is."""
    return "\n\n".join(_parts(outline)) + "\n"


def _parts(outline: Outline) -> Iterator[str]:
    spec = outline.spec
    yield f"# Plan {code(spec.name, _LONGEST)}"
    if outline.name is not None and outline.name != spec.name:
        yield f"The object {code(outline.name)}."
    if spec.description:
        yield block(spec.description, _LONGEST)
    yield "\n".join(f"- {_fact(each)}" for each in outline.facts)
    rows = [*mermaid.rows(drawn(outline))]
    if not mermaid.is_too_large(rows):
        yield "\n".join(("```mermaid", *rows, "```"))
    for number, (stage, steps) in enumerate(outline.stages, 1):
        yield f"## {number}. {code(stage.name, _LONGEST)}"
        yield _after(outline.after[stage.name])
        if stage.description:
            yield block(stage.description, _LONGEST)
        yield _table(outline, steps)
        for step, _ in steps:
            yield from _details(step, stage.repo)
    if spec.workflow is not None:
        yield from _phases(outline, definitions.of(spec.workflow))


def _phases(outline: Outline, definition: Definition) -> Iterator[str]:
    for number, (phase, its) in enumerate(outline.phases, 1):
        yield f"## {number}. {code(phase.name, _LONGEST)}"
        if phase.requires_approval:
            yield "A person must let it begin."
        if phase.allowed_roles:
            yield f"Only {', '.join(map(code, phase.allowed_roles))}."
        yield _nodes(outline, definition, its)
        for each in its:
            yield from _details(each.node, None)


def _fact(fact: Fact) -> str:
    values = fact.values if fact.is_ours else [code(each, _LONGEST) for each in fact.values]
    return f"**{fact.label.capitalize()}**: {'; '.join(values)}"


def _after(names: Sequence[str]) -> str:
    if not names:
        return "Begins at once."
    return f"After {', '.join(code(name, _LONGEST) for name in names)}."


def _table(outline: Outline, steps: Sequence[tuple[Step, StepTask | None]]) -> str:
    states = ["State"] if outline.tasks else []
    heads = [*states, "Step", "Role", "Model", "Minutes", "Files"]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for step, task in steps:
        route = outline.route(step)
        state = [task.status.replace("_", " ") if task is not None else ""] if states else []
        cells = [
            *state,
            code(step.heading, _LONGEST),
            code(step.role),
            code(f"{route.model}/{route.effort}", _LONGEST),
            minutes(step),
            ", ".join(code(each, _LONGEST) for each in step.files),
        ]
        rows += [
            f"| {' | '.join(cells)} |",
            *_subtasks(outline, task, has_states=bool(states), rest=1),
        ]
    return "\n".join(rows)


def _subtasks(
    outline: Outline, task: StepTask | None, *, has_states: bool, rest: int
) -> Iterator[str]:
    """A row for each part that the Task was split into; `rest`: columns that say nothing of it."""
    for part in outline.split(task):
        spec = part.spec
        route = outline.route(spec) if spec is not None else None
        cells = [
            *([part.task.status.replace("_", " ")] if has_states else []),
            f"{'└ ' * part.depth}{code(part.title, _LONGEST)}",
            code(spec.role) if spec is not None else "",
            code(f"{route.model}/{route.effort}", _LONGEST) if route is not None else "",
            minutes(spec) if spec is not None else "",
            *[""] * rest,
        ]
        yield f"| {' | '.join(cells)} |"


def _nodes(outline: Outline, definition: Definition, its: Sequence[NodeTask]) -> str:
    """The same of nodes, with what each waits for in place of its files."""
    states = ["State"] if outline.course is not None else []
    heads = [*states, "Node", "Role", "Model", "Minutes", "After", "Again"]
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for each in its:
        route = outline.route(each.node)
        again = nodes.again(definition, each.node)
        cells = [
            *([nodes.state(each.standing)] if states else []),
            code(nodes.title(each.node), _LONGEST),
            code(each.node.role),
            code(f"{route.model}/{route.effort}", _LONGEST),
            minutes(each.node),
            ", ".join(code(source, _LONGEST) for source in nodes.sources(each.node)),
            code(again, _LONGEST) if again else "",
        ]
        parts = _subtasks(outline, each.task, has_states=bool(states), rest=2)
        rows += [f"| {' | '.join(cells)} |", *parts]
    return "\n".join(rows)


def _details(work: Step | Node, repo: str | None) -> Iterator[str]:
    """Of a step or a node what does not fit into a cell; `repo`: of its stage."""
    repo, awaited = work.repo or repo, work.depends_on_repo if isinstance(work, Step) else None
    files = ", ".join(code(each, _LONGEST) for each in work.files)
    every = [
        block(work.description or "", _LONGEST),
        f"In the repository {code(repo, _LONGEST)}." if repo else "",
        f"After all of the repository {code(awaited, _LONGEST)}." if awaited else "",
        f"Files: {files}." if files and isinstance(work, Node) else "",
        _list("Split into", split_into(work)),
        _list("Must hold", signal_titles(work)),
        "Changes nothing." if work.changes == "none" else "",
    ]
    told = [part for part in every if part]
    if told:
        yield "\n\n".join((f"**{code(work.heading, _LONGEST)}**", *told))


def _list(words: str, items: Sequence[str]) -> str:
    if not items:
        return ""
    return "\n".join((f"{words}:\n", *(f"- {code(each, _LONGEST)}" for each in items)))
