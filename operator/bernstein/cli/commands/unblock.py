"""`bernstein unblock`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.api.requests import UNBLOCK
from bernstein.cli import requests
from bernstein.cli.cluster import connected
from bernstein.cli.naming import called
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.serializers import task_record


def unblock(
    settings: CliSettings,
    name: Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")],
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Told to its next agent.")
    ],
) -> None:
    """Lets a task go on whose agent waits for something.

    Its next agent goes on from what the one before has written, and is told the reason.
    """
    terminal = Terminal(settings)
    run_command(terminal, _unblock(terminal, name, reason.strip()))


async def _unblock(terminal: Terminal, name: str, reason: str) -> None:
    requests.check_reason(reason)
    async with connected(terminal.settings) as cluster:
        task, _, answer = await requests.of_task(cluster, name, UNBLOCK, reason)
    if answer is None:
        raise requests.not_answered(task)
    if terminal.json:
        terminal.answer(task_record(task))
    else:
        terminal.say(f"{called(task)}: {answer.message}")
