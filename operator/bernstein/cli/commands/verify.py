"""`bernstein verify`"""

from __future__ import annotations

import asyncio
import math
from typing import Annotated

import typer

from bernstein.api.requests import VERIFY, Answer
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import requests
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.duration import Timeout, seconds_of
from bernstein.cli.errors import FAILED, INTERRUPTED
from bernstein.cli.naming import called
from bernstein.cli.output.details import tell_verdicts
from bernstein.cli.output.notes import waits
from bernstein.cli.output.terminal import Terminal, room, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core.requests import answer_for
from bernstein.core.sanitise import line
from bernstein.core.serializers import task_record
from bernstein.core.waiting import is_stalled, parted

_TICK = 2.0


def verify(
    settings: CliSettings,
    name: Annotated[str, typer.Argument(metavar="TASK", help="Name of the task.")],
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Stay until there are verdicts.")
    ] = True,
    timeout: Timeout = None,
    reason: Annotated[
        str, typer.Option("--reason", "-r", metavar="TEXT", help="Recorded with it.")
    ] = "Verified by user",
) -> None:
    """Judges the work of a task anew, and tells the verdicts.

    No verdict of before counts. Of a task that is done they decide as the first ones did; one that
    has failed stays failed.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _verify(terminal, name, reason.strip(), timeout, wait=wait))
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)


async def _verify(
    terminal: Terminal, name: str, reason: str, at_most: str | None, *, wait: bool
) -> int:
    """The exit code: whether it passes, where that is waited for."""
    seconds = seconds_of(at_most)
    requests.check_reason(reason)
    async with connected(terminal.settings) as cluster:
        task, request, answer = await requests.of_task(cluster, name, VERIFY, reason, _stays_failed)
        if wait:
            task, answer = await _judged(cluster, task, request, seconds)
    if answer is not None and answer.answer == "Refused":
        raise requests.refused(task, answer)
    if answer is None and not wait and not _stays_failed(task):
        raise requests.not_answered(task)
    if terminal.json:
        terminal.answer(task_record(task))
    else:
        tell(terminal, task, answer, wait=wait)
    return 0 if not wait or _has_passed(task) else FAILED


def _stays_failed(task: Task) -> bool:
    """Its answer comes with the verdicts."""
    return task.status.state is TaskState.FAILED


async def _judged(
    cluster: Cluster, task: Task, request: str, seconds: float | None
) -> tuple[Task, Answer | None]:
    """The Task once there are verdicts, or it is plain that there will be none for now."""
    clock = asyncio.get_running_loop().time
    end = clock() + (seconds if seconds is not None else math.inf)
    while not _is_settled(task, request) and clock() < end:
        await asyncio.sleep(_TICK)
        task = await requests.again(cluster, task)
    return task, answer_for(request, task.status.requests)


def _is_settled(task: Task, request: str) -> bool:
    status = task.status
    if answer_for(request, status.requests) is None:
        return False
    judged = status.verification
    if status.state is not TaskState.DONE or judged is None:
        return True
    return judged.passed is not None or is_stalled(status)


def _has_passed(task: Task) -> bool:
    judged = task.status.verification
    return judged is not None and judged.passed is True


def tell(terminal: Terminal, task: Task, answer: Answer | None, *, wait: bool) -> None:
    if answer is None:
        terminal.say(f"{called(task)}: it is asked for, and has no answer yet")
        return
    terminal.say(f"{called(task)}: {line(answer.message, 500)}")
    if not wait:
        return
    tell_verdicts(terminal, task)
    judged, waiting = task.status.verification, task.status.waiting
    if judged is not None and judged.passed is None and waiting is not None:
        message = waits(waiting, task)
        terminal.advise(line(message, room(terminal.people, 500)))
        if helps := parted(waiting.message)[1]:
            terminal.advise(helps)
