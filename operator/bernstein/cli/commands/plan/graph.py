"""`bernstein plan graph`, also `bernstein plan --graph`"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated

import typer

from bernstein.cli import plan_subject
from bernstein.cli.output import drawing as drawings
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.plan_subject import PlanOrFile
from bernstein.cli.settings import CliSettings
from bernstein.core.drawing import dot, mermaid
from bernstein.core.drawing.model import Drawing
from bernstein.core.outlines.graph import drawn
from bernstein.core.outlines.record import graph_record


class Format(StrEnum):
    """What the graph is written for."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"


_LANGUAGES: dict[Format, Callable[[Drawing], Iterator[str]]] = {
    Format.MERMAID: mermaid.rows,
    Format.DOT: dot.rows,
}


def graph(
    settings: CliSettings,
    plan: PlanOrFile,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            metavar="text|mermaid|dot",
            help="For a terminal, for Markdown on a forge, or for Graphviz.",
        ),
    ] = Format.TEXT,
) -> None:
    """Draws the steps of a plan, what each waits for, and its critical path.

    That is the chain of steps that takes longest: with fewer minutes on it the plan is done sooner.
    Of a Plan of the cluster each step has its state.

    Ends with 2 when the plan is not valid.
    """
    terminal = Terminal(settings)
    run_command(terminal, _graph(terminal, plan, form))


async def _graph(terminal: Terminal, word: str, form: Format) -> None:
    outline = await plan_subject.find(terminal, word)
    drawing = drawn(outline)
    if terminal.json:
        terminal.answer(graph_record(outline, drawing))
    elif form is Format.TEXT:
        drawings.tell(terminal, drawing)
        _sum_up(terminal, drawing)
    else:
        rows = [*_LANGUAGES[form](drawing)]
        for row in rows:
            terminal.code(row)
        if form is Format.MERMAID and mermaid.is_too_large(rows):
            terminal.complain(_TOO_LARGE, "yellow")


_TOO_LARGE = (
    f"! most viewers of Mermaid draw at most {mermaid.MOST_LINES} lines between nodes and "
    f"{mermaid.MOST_CHARACTERS} characters; `--format dot` has no such limit"
)


def _sum_up(terminal: Terminal, drawing: Drawing) -> None:
    path = " → ".join(drawings.critical_titles(drawing))
    terminal.say(f"{drawings.CRITICAL} critical path: {path}")
    # In which run each is stands beside it.
    states = Counter(node.state.partition(" #")[0] for node in drawing.nodes if node.state)
    if states:
        terminal.say(", ".join(f"{number} {state}" for state, number in states.items()))
