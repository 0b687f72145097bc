"""`bernstein list-tasks`"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.vocabulary import ROLES
from bernstein.api.waiting import WaitReason
from bernstein.cli.cluster import Cluster, check_name, connected, where
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.options import AllNamespaces
from bernstein.cli.output import tables
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core import owners
from bernstein.core.serializers import STATUSES, blockers, is_blocked, task_record, task_status
from bernstein.core.waiting import is_stalled
from bernstein.kube.errors import Forbidden
from bernstein.resources import PLANS


def list_tasks(
    settings: CliSettings,
    status_filter: Annotated[
        str | None,
        typer.Option("--status-filter", metavar="STATUS", help="Only open, in_progress, ..."),
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", metavar="ROLE", help="Only tasks of this role.")
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="PLAN", help="Only tasks of this Plan.")
    ] = None,
    all_namespaces: AllNamespaces = False,
) -> None:
    """Lists tasks."""
    terminal = Terminal(settings)
    wanted = _Wanted(status_filter, role, plan, all_namespaces)
    run_command(terminal, _list(terminal, settings, wanted))


@dataclass(frozen=True)
class _Wanted:
    status: str | None
    role: str | None
    plan: str | None
    everywhere: bool


async def _list(terminal: Terminal, settings: CliSettings, wanted: _Wanted) -> None:
    status, role, plan = wanted.status, wanted.role, wanted.plan
    if status is not None and status not in STATUSES:
        message = f"'{status}' is no status of a task"
        raise CliError("InvalidStatus", message, _status_hint(status), INVALID)
    if plan is not None:
        check_name(plan, "Plan")
    async with connected(settings) as cluster:
        candidates = await _tasks(cluster, plan, wanted.everywhere)
        if role is not None:
            await _check_role(cluster, role, candidates)
        tasks = [
            task for task in candidates if _has(task, status) and role in (None, task.spec.role)
        ]
        if terminal.json:
            waiting = blockers(candidates)
            terminal.answer(
                [where(task, wanted.everywhere) | task_record(task, waiting) for task in tasks]
            )
        elif tasks:
            tasks = await with_causes(cluster, tasks, everywhere=wanted.everywhere)
            terminal.show(tables.task_table(tasks, terminal.people, namespaces=wanted.everywhere))
        else:
            chosen = " that match" if status or role or plan else ""
            place = "any namespace" if wanted.everywhere else f"namespace '{cluster.namespace}'"
            terminal.say(f"No tasks{chosen} in {place}.")


async def with_causes(cluster: Cluster, tasks: list[Task], *, everywhere: bool) -> list[Task]:
    """The Tasks, those whose Plan has not begun with the reason why it does not, if it needs a
    person."""
    if not any(map(_waits_for_its_start, tasks)):
        return tasks
    try:
        plans = await cluster.plans(everywhere=everywhere)
    except Forbidden:
        return tasks
    waiting = {plan.metadata.uid: plan.status.waiting for plan in plans if is_stalled(plan.status)}

    def told(task: Task) -> Task:
        cause = waiting.get(owners.plan_uid(task) or "")
        if cause is None or not _waits_for_its_start(task):
            return task
        status = task.status.model_copy(update={"waiting": cause})
        return task.model_copy(update={"status": status})

    return [told(task) for task in tasks]


def _waits_for_its_start(task: Task) -> bool:
    waiting = task.status.waiting
    return waiting is not None and waiting.reason == WaitReason.PLAN_STARTING


def _has(task: Task, status: str | None) -> bool:
    """Whether it has that status; one that waits for others is open and counts as blocked, too."""
    return status in (None, task_status(task)) or (status == "blocked" and is_blocked(task))


async def _tasks(cluster: Cluster, plan: str | None, everywhere: bool) -> list[Task]:
    """All Tasks, or those of a Plan. Raises CliError where there is no such Plan."""
    tasks = await cluster.tasks(plan, everywhere=everywhere)
    if everywhere:
        return tasks
    if plan is not None and not tasks and await cluster.find_plan(plan) is None:
        raise await cluster.not_found(plan, PLANS)
    return tasks


async def _check_role(cluster: Cluster, role: str, tasks: Sequence[Task]) -> None:
    """Raises CliError where `role` is neither one of the namespace nor that of any Task, `tasks` or
    others of it: the AgentRole of a Task may be gone."""
    if role in ROLES or any(task.spec.role == role for task in tasks):
        return
    there = await cluster.known_roles()
    known = sorted({*there, *(task.spec.role for task in await cluster.tasks())})
    if role not in known:
        message = f"'{role}' is no role of a task"
        raise CliError("InvalidRole", message, _hint(role, known), INVALID)


def _status_hint(word: str) -> str:
    """The words that there are; that of a state which has none of its own is another's."""
    close = difflib.get_close_matches(word, STATUSES, n=1)
    guess = f"did you mean {close[0]}? " if close else ""
    if word.lower().replace("_", "") == TaskState.PENDING_APPROVAL.lower():
        guess = "a task that waits for approval is done; `bernstein pending` lists it. "
    return f"{guess}The words are: {', '.join(STATUSES)}"


def _hint(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]}?" if close else f"use one of: {', '.join(known)}"
