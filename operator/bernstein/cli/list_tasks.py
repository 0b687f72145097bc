"""`bernstein list-tasks`"""

from __future__ import annotations

import difflib

from bernstein.cli import tables
from bernstein.cli.cluster import connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_command
from bernstein.core.records import STATUSES, task_record, task_status


def list_tasks(settings: Settings, status: str | None, role: str | None, plan: str | None) -> None:
    """The namespace's Tasks, the oldest first."""
    terminal = Terminal(settings)
    run_command(terminal, _list(terminal, settings, status, role, plan))


async def _list(
    terminal: Terminal, settings: Settings, status: str | None, role: str | None, plan: str | None
) -> None:
    if status is not None and status not in STATUSES:
        close = difflib.get_close_matches(status, STATUSES, n=1)
        hint = f"did you mean {close[0]}?" if close else f"use one of: {', '.join(STATUSES)}"
        raise CliError("InvalidStatus", f"'{status}' is no status of a task", hint, INVALID)
    async with connected(settings) as cluster:
        tasks = [
            task
            for task in await cluster.tasks(plan)
            if status in (None, task_status(task)) and role in (None, task.spec.role)
        ]
        if terminal.json:
            terminal.answer([task_record(task) for task in tasks])
        elif tasks:
            terminal.show(tables.task_table(tasks, terminal.people))
        else:
            chosen = " that match" if status or role or plan else ""
            terminal.say(f"No tasks{chosen} in namespace '{cluster.namespace}'.")
