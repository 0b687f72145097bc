"""What a plan holds as Markdown, for people who review it on a forge.

Words of who wrote the plan stand as code: they mean nothing to a forge, and are no Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bernstein.api.plan import Stage, Step
from bernstein.core.delivery.pull_request import block, code
from bernstein.core.drawing import mermaid
from bernstein.core.outlines.graph import drawn
from bernstein.core.outlines.outline import Fact, Outline, StepTask, minutes, signal_titles

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
        yield from _details(stage, steps)


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
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _details(stage: Stage, steps: Sequence[tuple[Step, StepTask | None]]) -> Iterator[str]:
    """Of each step what does not fit into a cell."""
    for step, _ in steps:
        repo = step.repo or stage.repo
        parts = [
            block(step.description or "", _LONGEST),
            f"In the repository {code(repo, _LONGEST)}." if repo else "",
            f"After all of the repository {code(step.depends_on_repo, _LONGEST)}."
            if step.depends_on_repo
            else "",
            _signals(step),
            "Changes nothing." if step.changes == "none" else "",
        ]
        told = [part for part in parts if part]
        if told:
            yield "\n\n".join((f"**{code(step.heading, _LONGEST)}**", *told))


def _signals(step: Step) -> str:
    titles = signal_titles(step)
    return "\n".join(("Must hold:\n", *(f"- {code(each, _LONGEST)}" for each in titles))) * bool(
        titles
    )
