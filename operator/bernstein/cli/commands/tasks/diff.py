"""`bernstein diff`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.api.projects.workplace import Workplace
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import kept_work
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.errors import CliError
from bernstein.cli.local import changes
from bernstein.cli.local.changes import Changes, NotThere
from bernstein.cli.local.git import GitFailed
from bernstein.cli.naming import called
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.delivery import kept
from bernstein.core.delivery.kept import Commits
from bernstein.core.projects import repositories
from bernstein.core.sanitise import line
from bernstein.kube.resource import Object
from bernstein.resources import TASKS

_STYLES = (
    *(("+++ ", "bold"), ("--- ", "bold"), ("diff ", "bold"), ("@@ ", "cyan")),
    *(("+", "green"), ("-", "red")),
)


def diff(
    settings: CliSettings,
    name: Annotated[str, typer.Argument(metavar="TASK", help="Name of a Task; or task/NAME.")],
    stat: Annotated[
        bool, typer.Option("--stat", help="Only which files, and how many lines of each.")
    ] = False,
) -> None:
    """Shows what a task has changed, read from the git server with your own access.

    That is what is or was judged last, else what its last session has left.
    """
    terminal = Terminal(settings)
    run_command(terminal, _diff(terminal, name.removeprefix("task/"), stat=stat))


async def _diff(terminal: Terminal, name: str, *, stat: bool) -> None:
    async with connected(terminal.settings) as cluster:
        task = await cluster.find_task(name)
        if task is None:
            raise await cluster.not_found(name, TASKS)
        commits = kept.commits_of_task(task.status, await kept_work.last_session(cluster, task))
        project = await _project(cluster, task)
    if commits is None:
        text = f"{called(task)} has left nothing yet"
        raise CliError("NothingLeft", text, f"see how it stands with `bernstein logs {name}`")
    url = repositories.url_of(project.spec.repository, commits.ref)
    difference = Changes("", cut=False)
    if commits.sha != commits.base:
        difference = await _read(task, project, commits, stat=stat)
    if terminal.json:
        terminal.answer(_record(task, url, commits, difference))
    else:
        _tell(terminal, task, commits, difference)


async def _project(cluster: Cluster, task: Task) -> Workplace:
    project = await kept_work.project_of(cluster, task.status.project)
    its, problem = repositories.place_of_task(task, None, project)
    if problem is not None:
        raise CliError(problem.reason, f"{called(task)}: {problem.message}", "ask who keeps it")
    if its is None:
        raise CliError(
            "ProjectUnknown",
            f"the Project of {called(task)} is gone, or you may not read it",
            "it names the repository: ask for the right to list Projects",
        )
    return its


async def _read(task: Task, project: Workplace, commits: Commits, *, stat: bool) -> Changes:
    url = repositories.url_of(project.spec.repository, commits.ref)
    try:
        return await changes.between(url, commits, stat=stat)
    except NotThere as problem:
        text = f"what {called(task)} has left is not where it was: {problem}"
        remedy = "ask again; a ref that somebody has moved never lands"
        raise CliError("WorkMoved", text, remedy) from problem
    except GitFailed as problem:
        text = f"git cannot read {url}: {line(str(problem), 300)}"
        remedy = f"try it where your git may: `{kept.fetch(project, commits.ref)}`"
        raise CliError("RepositoryUnreadable", text, remedy) from problem


def _asking(task: Task, commits: Commits) -> str | None:
    """The Approval that asks about this commit now."""
    asked, state = task.status.approval, task.status.state
    if asked is None or asked.decision is not None or state is not TaskState.PENDING_APPROVAL:
        return None
    return asked.name if asked.asks.sha == commits.sha else None


def _record(task: Task, url: str, commits: Commits, difference: Changes) -> Object:
    return {
        "task_id": task.metadata.name,
        "repository": url,
        "ref": commits.ref,
        "base": commits.base,
        "sha": commits.sha,
        "diff": difference.text,
        "cut": difference.cut,
        "approval_name": _asking(task, commits),
    }


def _tell(terminal: Terminal, task: Task, commits: Commits, difference: Changes) -> None:
    """The diff alone on standard output, so that other programs can read it."""
    what = f"{called(task)}: {commits.sha[:12]} on {commits.base[:12]}"
    if not difference.text:
        terminal.complain(f"{what} changes nothing")
        return
    terminal.complain(what, "dim")
    for row in difference.text.removesuffix("\n").split("\n"):
        terminal.code(row, next((style for begin, style in _STYLES if row.startswith(begin)), ""))
    if difference.cut:
        more = f"{changes.LARGEST >> 20} MiB are shown, and there is more: fetch {commits.ref}"
        terminal.complain(f"… {more}", "yellow")
    if asking := _asking(task, commits):
        command = f"`bernstein approve {task.metadata.name} --approval {asking}`"
        placed = terminal.settings.placed(command)
        terminal.complain(f"  a person decides about exactly this: {placed}, or reject", "dim")
