"""`bernstein prompt`"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from bernstein.api.session import AgentSession, Prompt
from bernstein.api.task import Task
from bernstein.cli import kept_work
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.tasks.prompt.shown import (
    Began,
    Shown,
    next_attempt,
    shown,
    shown_of_next,
)
from bernstein.cli.errors import FAILED, INTERRUPTED, CliError
from bernstein.cli.output.terminal import Terminal, run_async
from bernstein.cli.settings import CliSettings
from bernstein.core import names, owners, projects
from bernstein.core.fsm import is_final
from bernstein.core.projects import repositories
from bernstein.core.sanitise import visible
from bernstein.core.serializers import Document
from bernstein.core.snapshot import TaskSnapshot
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import Object, controller_of
from bernstein.resources import SESSIONS, TASKS


def prompt(
    settings: CliSettings,
    name: Annotated[
        str,
        typer.Argument(
            metavar="TASK_OR_SESSION", help="Of a task its last session counts; or task/NAME."
        ),
    ],
    session: Annotated[
        int | None,
        typer.Option(
            "--session", metavar="NUMBER", help="Of a task: which of its sessions.", min=1
        ),
    ] = None,
    repo: Annotated[
        str, typer.Option("--repo", metavar="DIR", help="A clone that has the commits.")
    ] = ".",
) -> None:
    """Shows exactly what an agent was told, or what the first one will be told.

    It is put together anew, out of what the operator wrote and a clone, and compared with what the
    agent got. Ends with 0 where that is the same, or no agent has begun.
    """
    terminal = Terminal(settings)
    try:
        asked = _prompt(terminal, name.removeprefix("task/"), session, repo)
        code = run_async(terminal, asked)
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)


async def _prompt(terminal: Terminal, name: str, number: int | None, repo: str) -> int:
    subject = await _subject(terminal.settings, name, number)
    if isinstance(subject, TaskSnapshot):
        found, given = shown_of_next(subject), None
    else:
        found, given = await shown(subject, repo), subject.given
    if terminal.json:
        terminal.answer(_record(subject, found))
    else:
        terminal.exactly(visible(found.text))
        for note in (*found.notes, *_told(given)):
            terminal.complain(note, "dim")
    return 0 if found.exact or given is None else FAILED


# --- what the cluster has ------------------------------------------------------------------------


async def _subject(settings: CliSettings, name: str, number: int | None) -> TaskSnapshot | Began:
    async with connected(settings) as cluster:
        task = await cluster.find_task(name)
        session = await _session(cluster, task, name, number)
        if session is None:
            assert task is not None
            return await _snapshot(cluster, task)
        content = await _content(cluster, session)
        owner = task or await cluster.find_task(session.spec.task_ref.name)
        project = await kept_work.project_of(cluster, session.spec.project)
    place = repositories.place_of_task(owner, None, project) if owner is not None else None
    return Began(session, content, place.project if place is not None else None)


async def _session(
    cluster: Cluster, task: Task | None, name: str, number: int | None
) -> AgentSession | None:
    """The session that is asked about; None: of a Task that may yet get its first one."""
    if number is not None:
        return await _numbered(cluster, task, name, number)
    wanted = name if task is None else task.status.session
    if wanted is None:
        assert task is not None
        if task.spec.subtasks:
            text = f"Task '{name}' is split by its step: it has no session, its subtasks have"
            raise CliError("NoSession", text, "`bernstein list-tasks` shows them below it")
        if is_final(task.status, task.spec.max_retries):
            text = f"Task '{name}' has had no session, and gets none any more"
            raise CliError("NoSession", text, f"see how it ended with `bernstein logs {name}`")
        return None
    session = await cluster.find_session(wanted)
    if session is None:
        raise await cluster.not_found(wanted, TASKS, SESSIONS)
    return session


async def _numbered(cluster: Cluster, task: Task | None, name: str, number: int) -> AgentSession:
    if task is None:
        raise await cluster.not_found(name, TASKS)
    there = await cluster.sessions(name)
    found = next((each for each in there if each.spec.number == number), None)
    if found is None:
        known = ", ".join(str(each.spec.number) for each in there)
        remedy = f"there are: {known}" if known else f"see how it stands: `bernstein logs {name}`"
        text = f"there is no session {number} of Task '{name}'"
        raise CliError("NoSession", text, remedy)
    return found


async def _content(cluster: Cluster, session: AgentSession) -> Mapping[str, str]:
    name = session.metadata.name
    for config_map in (names.prompt(name), name):
        found = await cluster.config_map(config_map)
        if found is not None and _is_of(found, session):
            return found.get("data") or {}
    raise CliError(
        "NotFound",
        f"the prompt of session '{name}' is not there",
        "it is made together with the session's Job, and gone with the session",
    )


def _is_of(obj: Object, session: AgentSession) -> bool:
    return (controller_of(obj) or {}).get("uid") == session.metadata.uid


async def _snapshot(cluster: Cluster, task: Task) -> TaskSnapshot:
    """What of its Plan and Project the prompt says, as far as the caller may read them."""
    reference = owners.plan_of(task)
    plan = await cluster.find_plan(reference.name) if reference is not None else None
    try:
        every = projects.named(await cluster.projects())
    except Forbidden:
        every = {}
    place = repositories.place_of_task(task, plan, projects.of_task(task, plan, every).project)
    roles = await cluster.known_roles()
    is_run = plan is not None and plan.spec.workflow is not None
    # What was found in the work that it follows is told to its agent.
    beside = await cluster.tasks(plan.metadata.name) if plan is not None and is_run else []
    tasks = {each.metadata.name: each for each in beside}
    return TaskSnapshot(task=task, project=place.project, plan=plan, tasks=tasks, roles=roles)


# --- telling -------------------------------------------------------------------------------------


def _told(given: Prompt | None) -> list[str]:
    if given is None:
        return []
    left_out = f"; left out: {', '.join(given.cut)}" if given.cut else "; nothing was left out"
    return [f"The agent's: {given.bytes:,} bytes, SHA-256 {given.digest}{left_out}."]


def _record(subject: TaskSnapshot | Began, shown: Shown) -> Document:
    if isinstance(subject, TaskSnapshot):
        session, attempt, given = None, next_attempt(subject), None
    else:
        session, given = subject.session.metadata.name, subject.given
        attempt = subject.session.spec.attempt
    return {
        "session": session,
        "attempt": attempt,
        "text": visible(shown.text),
        "exact": shown.exact,
        "digest": given.digest if given else None,
        "bytes": given.bytes if given else None,
        "base": given.base if given else None,
        "cut": [*given.cut] if given else [],
        "resumed": given.resumed if given else None,
        "parts": dict((given.parts if given else None) or shown.sizes),
        "notes": [*shown.notes],
    }
