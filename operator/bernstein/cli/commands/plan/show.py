"""`bernstein plan show`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli import plan_subject
from bernstein.cli.output import outlines
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.plan_subject import PlanOrFile
from bernstein.cli.settings import CliSettings
from bernstein.core.outlines.markdown import markdown
from bernstein.core.outlines.record import outline_record


def show(
    settings: CliSettings,
    plan: PlanOrFile,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="As Markdown, for a pull request or an issue.")
    ] = False,
) -> None:
    """Shows what a plan holds, for people to read.

    That is its goal, its estimate, its budget, when people are asked, and each step with its role,
    model, minutes, files and completion signals; of a Plan of the cluster also the state of each
    step.

    Ends with 2 when the plan is not valid.
    """
    terminal = Terminal(settings)
    run_command(terminal, _show(terminal, plan, as_markdown=as_markdown))


async def _show(terminal: Terminal, word: str, *, as_markdown: bool) -> None:
    outline = await plan_subject.find(terminal, word)
    if terminal.json:
        terminal.answer(outline_record(outline))
    elif as_markdown:
        for row in markdown(outline).splitlines():
            terminal.code(row)
    else:
        outlines.tell(terminal, outline)
