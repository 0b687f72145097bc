"""`bernstein reject`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli.commands.approve import ApprovalSeen, ShaSeen, decided
from bernstein.cli.decisions import Decision, Seen
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.naming import Subject
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings


def reject(
    settings: CliSettings,
    name: Subject,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Send the work back: the next attempt is told the reason."),
    ] = False,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Recorded with it.")
    ] = "",
    approval: ApprovalSeen = None,
    sha: ShaSeen = None,
) -> None:
    """Rejects the work of a task, or a Plan; or sends the work back.

    Without --retry it is over: the task is cancelled, and what it left stays on its ref. With
    --approval or --sha nothing is written where something else is asked by then.
    """
    terminal = Terminal(settings)
    seen = Seen(approval, sha.lower() if sha is not None else None)
    run_command(terminal, _rejected(terminal, name, reason.strip(), seen, retry=retry))


async def _rejected(terminal: Terminal, name: str, reason: str, seen: Seen, *, retry: bool) -> None:
    if retry and not reason:
        message = "the next attempt would not be told what to do otherwise"
        raise CliError("ReasonMissing", message, "say with --reason what is wrong", INVALID)
    decision: Decision = "Retry" if retry else "Reject"
    await decided(terminal, name, decision, reason, seen)
