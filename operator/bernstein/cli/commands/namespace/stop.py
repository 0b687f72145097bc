"""`bernstein stop`"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.cli import requests, suspension
from bernstein.cli.cluster import connected
from bernstein.cli.errors import FAILED, INTERRUPTED, INVALID, CliError
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core import owners
from bernstein.core.fsm import ACTIVE, is_final
from bernstein.core.sanitise import count, some
from bernstein.core.serializers import Document

_REASON = "Stopped by user"


def stop(
    settings: CliSettings,
    force: Annotated[
        bool, typer.Option("--force", help="End all sessions at once, without a soft stop.")
    ] = False,
    reason: Annotated[
        str | None,
        typer.Option("--reason", "-r", metavar="TEXT", help="Why sessions are ended by force."),
    ] = None,
) -> None:
    """Suspends every Plan of the namespace; `start` lets them go on.

    Agents that are at work go on, and so do Tasks without a Plan: by force their agents end, too,
    and others start in their place. Asking again changes nothing.
    """
    terminal = Terminal(settings)
    try:
        code = run_async(terminal, _stop(terminal, reason, force=force))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(code)


async def _stop(terminal: Terminal, reason: str | None, *, force: bool) -> int:
    if reason is not None and not force:
        text = "--reason is recorded with the end of each session, which --force asks for"
        raise CliError("Usage", text, "leave it out, or add --force", INVALID)
    reason = _REASON if reason is None else reason.strip()
    requests.check_reason(reason)
    async with connected(terminal.settings) as cluster:
        plans, tasks = await cluster.plans(), await cluster.tasks()
        running = [plan for plan in plans if suspension.can_change(plan)]
        stopped = [
            plan
            for plan in running
            if not plan.spec.suspend and await suspension.change(cluster, plan, suspend=True)
        ]
        before = [plan for plan in running if plan.spec.suspend]
        alone = [task for task in tasks if _goes_on(task)]
        active = [task for task in tasks if task.status.state in ACTIVE]
        asked = await requests.end_sessions(cluster, reason) if force else {}
        killed = [name for name, problem in asked.items() if problem is None]
        failed = {name: problem for name, problem in asked.items() if problem is not None}
        _tell(terminal, cluster.namespace, stopped, before)
        _tell_what_goes_on(terminal, alone, active, killed)
        for problem in failed.values():
            terminal.say(f"✗ not ended: {problem.message}", "red")
            terminal.advise(problem.remedy)
    if terminal.json:
        terminal.answer(
            {
                "stopped": _names(stopped),
                "suspended": _names(before),
                "at_work": _names(active),
                "killed": killed,
                "not_killed": [_record(name, problem) for name, problem in failed.items()],
                "without_plan": _names(alone),
            }
        )
    return FAILED if failed else 0


def _record(name: str, problem: CliError) -> Document:
    """For scripts; of a Task whose session goes on."""
    said = {"reason": problem.reason, "message": problem.message, "remedy": problem.remedy}
    return {"id": name, **said}


def _goes_on(task: Task) -> bool:
    """It has no Plan that could be suspended, and has not ended."""
    if owners.plan_of(task) is not None or task.spec.cancel is not None:
        return False
    return not is_final(task.status, task.spec.max_retries)


def _tell(
    terminal: Terminal, namespace: str, stopped: Sequence[Plan], before: Sequence[Plan]
) -> None:
    if stopped:
        names = some(_names(stopped), len(stopped))
        verb = "is" if len(stopped) == 1 else "are"
        terminal.say(f"{count(len(stopped), 'Plan')} {verb} suspended: {names}")
        terminal.quote(f"  let them go on:  {terminal.settings.command_line('start')}")
    elif before:
        terminal.say(f"All Plans in namespace '{namespace}' are suspended already: nothing changed")
    else:
        terminal.say(f"Nothing to stop: no Plan runs in namespace '{namespace}'.")


def _tell_what_goes_on(
    terminal: Terminal, alone: Sequence[Task], active: Sequence[Task], killed: Sequence[str]
) -> None:
    if killed:
        terminal.say(
            f"  {count(len(killed), 'session')} ended at once: {some(killed, len(killed))}"
        )
        _tell_what_starts_again(terminal, [n for n in _names(alone) if n in killed])
    elif active:
        text = f"{count(len(active), 'agent')} at work: what they leave is verified, and kept"
        terminal.say(f"  {text}")
    if alone:
        names = some(_names(alone), len(alone))
        text = f"{count(len(alone), 'Task')} without a Plan can only be cancelled: {names}"
        terminal.advise(f"{text}; `bernstein cancel task/{alone[0].metadata.name}`")


def _tell_what_starts_again(terminal: Terminal, names: Sequence[str]) -> None:
    """A killed agent is followed by another one, where no Plan is suspended that would wait."""
    if names:
        verb, it = ("starts", "it") if len(names) == 1 else ("start", "them")
        text = f"{len(names)} of these {verb} again at once, as no Plan holds {it}"
        terminal.say(f"  {text}: {some(names, len(names))}", "yellow")


def _names(found: Iterable[Plan] | Iterable[Task]) -> list[str]:
    return [each.metadata.name for each in found]
