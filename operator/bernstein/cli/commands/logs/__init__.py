"""`bernstein logs`"""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from bernstein.cli.cluster import connected
from bernstein.cli.commands.logs.record import record
from bernstein.cli.commands.logs.subject import find
from bernstein.cli.commands.logs.teller import Teller
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.output import details
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings

_INTERVAL = 2.0


def logs(
    settings: CliSettings,
    name: Annotated[
        str, typer.Argument(metavar="TASK_SESSION_OR_PLAN", help="Name of one; or plan/NAME.")
    ],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Until it has ended.")] = False,
) -> None:
    """Shows a task's sessions, attempts and verdicts, and what failed checks printed."""
    terminal = Terminal(settings)
    run_command(terminal, _logs(terminal, settings, name, follow))


async def _logs(terminal: Terminal, settings: CliSettings, name: str, follow: bool) -> None:
    if follow and settings.json:
        message = "--follow and --json exclude each other"
        raise CliError("Usage", message, "leave one of them out", INVALID)
    async with connected(settings) as cluster:
        subject = await find(cluster, name)
        if settings.json:
            terminal.answer(await record(cluster, subject))
            return
        if not subject.sessions and subject.plan is None:
            terminal.say("It has had no session yet.")
        teller = Teller(terminal, cluster, follow=follow)
        await teller.tell(subject)
        while follow and not subject.ended:
            teller.tell_standstill(subject)
            await asyncio.sleep(_INTERVAL)
            subject = await find(cluster, name)
            await teller.tell(subject)
        if subject.task is not None:
            details.tell_task(terminal, subject.task, teller.remedy)
            details.tell_turn(terminal, subject.task)
        if subject.plan is not None:
            details.tell_plan(terminal, subject.plan)
