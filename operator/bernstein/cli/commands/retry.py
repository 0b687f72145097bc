"""`bernstein retry`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.api.requests import RETRY
from bernstein.cli import requests
from bernstein.cli.cluster import connected
from bernstein.cli.naming import Subject, called, find
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import line
from bernstein.core.serializers import plan_record, task_record


def retry(
    settings: CliSettings,
    name: Subject,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Recorded with it.")
    ] = "Retried by user",
) -> None:
    """Gives a failed task, or all failed ones of a Plan, another round of attempts.

    What waits for a person until its next try, tries at once. The objects stay the same:
    what is closed stays closed, and attempts and costs count on.
    """
    terminal = Terminal(settings)
    run_command(terminal, _retry(terminal, settings, name, reason.strip()))


async def _retry(terminal: Terminal, settings: CliSettings, name: str, reason: str) -> None:
    requests.check_reason(reason)
    async with connected(settings) as cluster:
        subject = await find(cluster, name)
        request = await requests.ask(cluster, subject, RETRY, reason)
        subject, answer = await requests.answer_to(
            cluster, subject, request, requests.ANSWER_SECONDS
        )
    if answer is not None and answer.answer == "Refused":
        raise requests.refused(subject, answer)
    if answer is None:
        raise requests.not_answered(subject)
    if terminal.json:
        terminal.answer(plan_record(subject) if isinstance(subject, Plan) else task_record(subject))
    else:
        terminal.say(f"{called(subject)}: {line(answer.message, 500)}")
