"""Tells what a plan holds, in lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from bernstein.api.plan import Stage, Step
from bernstein.cli.output.tables import MARKS, STYLES
from bernstein.cli.output.terminal import Terminal, room
from bernstein.core.outlines.outline import Outline, StepTask, minutes, signal_titles
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
    route = outline.route(step)
    parts = [step.role, f"{route.model}/{route.effort}", minutes(step)]
    told = [state.replace("_", " "), *(line(each, _LONGEST) for each in parts)]
    terminal.say(f"    {' · '.join(filter(None, told))}", "dim")
    _describe(terminal, step.description, "    ")
    lists = (
        ("repository", (step.repo,) if step.repo else ()),
        ("after", (f"all of {step.depends_on_repo}",) if step.depends_on_repo else ()),
        ("files", step.files),
        ("signals", signal_titles(step)),
        ("changes", ("nothing",) if step.changes == "none" else ()),
    )
    _tell_values(terminal, lists, indent=4)
