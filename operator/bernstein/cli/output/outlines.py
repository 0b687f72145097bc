"""Tells what a plan holds, in lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from bernstein.api.plan import Stage, Step
from bernstein.api.plans.workflow import Node, Workflow
from bernstein.cli.output import drawing
from bernstein.cli.output.tables import MARKS, STYLES, below
from bernstein.cli.output.terminal import Terminal, room
from bernstein.core.outlines import nodes
from bernstein.core.outlines.outline import (
    NodeTask,
    Outline,
    StepTask,
    minutes,
    signal_titles,
    split_into,
)
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.sanitise import ELLIPSIS, line, text

_LABEL = 15
"""Columns."""
_LONGEST = 8192
"""Characters: no text of a plan has more."""
_ROWS = 12
"""Lines of a description that a terminal shows."""


def tell(terminal: Terminal, outline: Outline) -> None:
    """All of it."""
    spec = outline.spec
    terminal.say(line(spec.name, _LONGEST), "bold")
    _describe(terminal, spec.description, "  ")
    terminal.say("")
    _tell_values(terminal, ((fact.label, fact.values) for fact in outline.facts), indent=2)
    for stage, steps in outline.stages:
        terminal.say("")
        terminal.say(_heading(stage, outline.after[stage.name]), "bold")
        _describe(terminal, stage.description, "  ")
        for step, task in steps:
            _tell_step(terminal, outline, step, task)
    if spec.workflow is not None:
        _tell_workflow(terminal, outline, spec.workflow)


def _tell_workflow(terminal: Terminal, outline: Outline, workflow: Workflow) -> None:
    for phase, its in outline.phases:
        terminal.say("")
        about = nodes.about_phase(phase)
        terminal.say(line(f"{phase.name}, {about}" if about else phase.name, _LONGEST), "bold")
        for node in its:
            _tell_node(terminal, outline, workflow, node)


def _tell_values(
    terminal: Terminal, lists: Iterable[tuple[str, Sequence[str]]], *, indent: int
) -> None:
    """Each on lines of its own, beside the label of all."""
    table = Table.grid()
    table.add_column("label", width=indent + _LABEL)
    table.add_column("value", overflow="fold")
    for label, values in lists:
        labels = (f"{' ' * indent}{label}", *[""] * len(values))
        for each, value in zip(labels, values, strict=False):
            table.add_row(Text(each), Text(line(value, _LONGEST)))
    if table.row_count:
        terminal.show(table)


def _heading(stage: Stage, after: tuple[str, ...]) -> str:
    name = line(stage.name, _LONGEST)
    names = ", ".join(line(each, _LONGEST) for each in after)
    return f"{name}, after {names}" if names else name


def _describe(terminal: Terminal, words: str | None, indent: str) -> None:
    """As many lines as there is room for, the first ones."""
    rows = text(words, _LONGEST).split("\n") if words else []
    shown = room(terminal.people, _ROWS)
    for row in [*rows[:shown], *([ELLIPSIS] if len(rows) > shown else [])]:
        terminal.say(f"{indent}{row}", "dim")


def _tell_step(terminal: Terminal, outline: Outline, step: Step, task: StepTask | None) -> None:
    state = task.status if task is not None else ""
    mark, style = MARKS.get(state, "○"), STYLES.get(state, "")
    terminal.say(f"  {mark} {line(step.heading, _LONGEST)}", style)
    after = (f"all of {step.depends_on_repo}",) if step.depends_on_repo else ()
    _tell_work(terminal, outline, step, state.replace("_", " "), [("after", after)])
    _tell_subtasks(terminal, outline, task)


def _tell_subtasks(terminal: Terminal, outline: Outline, task: StepTask | None) -> None:
    """What a Task was split into, below it."""
    for part in outline.split(task):
        spec, state = part.spec, part.task.status
        indent, mark = f"    {below(part.depth)}", MARKS.get(state, "○")
        terminal.say(f"{indent}{mark} {line(part.title, _LONGEST)}", STYLES.get(state, ""))
        told = [state.replace("_", " ")]
        if spec is not None:
            route = outline.route(spec)
            told += [spec.role, f"{route.model}/{route.effort}", minutes(spec)]
        words = " · ".join(line(each, _LONGEST) for each in told)
        terminal.say(f"{' ' * len(indent)}  {words}", "dim")


def _tell_node(terminal: Terminal, outline: Outline, workflow: Workflow, each: NodeTask) -> None:
    node, standing = each.node, each.standing
    tone = nodes.TONES[standing.state] if standing is not None else "waiting"
    title = line(nodes.title(node), _LONGEST)
    terminal.say(f"  {drawing.MARKS[tone]} {title}", drawing.STYLES.get(tone, ""))
    again = nodes.again(definitions.of(workflow), node)
    lists: list[tuple[str, Sequence[str]]] = [
        ("task", (each.task.name,) if each.task is not None else ()),
        ("after", nodes.sources(node)),
        ("decided", nodes.decisions(node, standing)),
        ("again", (again,) if again else ()),
    ]
    _tell_work(terminal, outline, node, nodes.state(standing), lists)
    _tell_subtasks(terminal, outline, each.task)


def _tell_work(
    terminal: Terminal,
    outline: Outline,
    work: Step | Node,
    state: str,
    lists: Iterable[tuple[str, Sequence[str]]],
) -> None:
    """What steps and nodes say alike; `lists`: what they do not."""
    route = outline.route(work)
    about = [work.role, f"{route.model}/{route.effort}", minutes(work)]
    told = [state, *(line(each, _LONGEST) for each in about)]
    terminal.say(f"    {' · '.join(filter(None, told))}", "dim")
    _describe(terminal, work.description, "    ")
    rest: tuple[tuple[str, Sequence[str]], ...] = (
        ("subtasks", split_into(work)),
        ("files", work.files),
        ("signals", signal_titles(work)),
        ("changes", ("nothing",) if work.changes == "none" else ()),
    )
    repository = ("repository", (work.repo,) if work.repo else ())
    _tell_values(terminal, (repository, *lists, *rest), indent=4)
