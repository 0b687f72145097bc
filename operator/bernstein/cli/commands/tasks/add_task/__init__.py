"""`bernstein add-task`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from bernstein.api.project import Project, ProjectSpec
from bernstein.api.task import Task
from bernstein.cli import project_choice
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.commands.tasks.add_task import creation, sources
from bernstein.cli.commands.tasks.add_task.creation import Added
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local import configuration
from bernstein.cli.naming import called, check_new_name
from bernstein.cli.output import plan_files
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core.fsm import is_final
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.roles.known import Roles
from bernstein.core.routing.table import route
from bernstein.core.sanitise import some
from bernstein.core.serializers import blockers, task_record, task_status
from bernstein.core.tasks.declared import (
    Clash,
    Declared,
    Named,
    by_label,
    declared,
    manifest,
    problems,
    validate_task,
)
from bernstein.core.tasks.declared import named as with_names

IdempotencyKey = Annotated[
    str | None,
    typer.Option("--idempotency-key", metavar="TEXT", help="Another key makes another Task of it."),
]


def add_task(
    settings: CliSettings,
    title: Annotated[
        str | None, typer.Argument(metavar="TITLE", help="What is to be done, in one line.")
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", metavar="ROLE", help="Role of the agent (backend).")
    ] = None,
    description: Annotated[
        str | None,
        typer.Option("--description", "-d", metavar="TEXT", help="What is to be done, at length."),
    ] = None,
    priority: Annotated[
        int | None, typer.Option("--priority", metavar="1-5", help="1 is the highest (2).")
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option("--scope", metavar="SCOPE", help="small, medium or large (medium)."),
    ] = None,
    complexity: Annotated[
        str | None,
        typer.Option("--complexity", metavar="WORD", help="low, medium or high (medium)."),
    ] = None,
    cli: Annotated[
        str | None,
        typer.Option("--cli", metavar="AGENT", help="Agent of the Project (its default one)."),
    ] = None,
    depends_on: Annotated[
        list[str] | None,
        typer.Option("--depends-on", metavar="TASK_ID", help="Must be closed first; repeatable."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", "-f", metavar="FILE", help="Task file, or a folder of them, or -."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the Task object.")
    ] = None,
    idempotency_key: IdempotencyKey = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Project that it belongs to.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the object in JSON, and ask no cluster.")
    ] = False,
) -> None:
    """Adds a task without a Plan, or all tasks of a file or folder.

    The same again adds none: it shows the task that is there.
    """
    given = _Given(title, role, description, priority, scope, complexity, cli, depends_on)
    call = _Call(given, file, name, idempotency_key, project, dry_run)
    terminal = Terminal(settings)
    run_command(terminal, _add(terminal, call))


@dataclass(frozen=True)
class _Given:
    """The fields of a task file that are options, too."""

    title: str | None
    role: str | None
    description: str | None
    priority: int | None
    scope: str | None
    complexity: str | None
    cli: str | None
    depends_on: list[str] | None

    def data(self) -> dict[str, Any]:
        """What a task file of the same would hold."""
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in every.items() if value not in (None, "", [])}


@dataclass(frozen=True)
class _Call:
    given: _Given
    file: str | None
    name: str | None
    key: str | None
    project: str | None
    dry_run: bool


@dataclass(frozen=True)
class _Offer:
    """What a namespace offers to its Tasks."""

    project: Project | None
    roles: Roles


async def _add(terminal: Terminal, call: _Call) -> None:
    tasks = _declared(terminal, call)
    project = project_choice.named(terminal.settings, call.project)
    if call.dry_run:
        where = terminal.settings.namespace
        made = _named(tasks, {}, call, project)
        objects = [manifest(task, namespace=where, project=project) for task in made]
        terminal.answer(objects[0] if call.file is None else objects)
        return
    async with connected(terminal.settings) as cluster:
        found = await project_choice.find(cluster, project)
        configuration.tell_gates(terminal, found)
        roles = await cluster.known_roles()
        _judge(tasks, found.spec if found is not None else None, roles)
        there = await cluster.tasks()
        made = _named(tasks, by_label(there), call, project)
        by_name = {task.metadata.name: task for task in there}
        added = await creation.add(terminal, cluster, made, by_name, project)
        _tell(terminal, cluster, added, _Offer(found, roles), one=call.file is None)


def _declared(terminal: Terminal, call: _Call) -> list[Declared]:
    """What was asked for. Raises CliError, or ends the program, where that is wrong."""
    if call.name is not None:
        check_new_name(call.name, "Task")
    given = call.given.data()
    if call.file is None:
        if call.given.title is None:
            remedy = "write `bernstein add-task TITLE`, or give a file with -f"
            raise CliError("Usage", "a task needs a title", remedy, INVALID)
        found = problems({"title": call.given.title, **given})
        _refuse(found.errors)
        _warn(terminal, call, found.warnings)
        return [declared(given)]
    if given:
        options = ", ".join(f"--{field.replace('_', '-')}" for field in given)
        text = f"a task file says all of its tasks: it takes no {options}"
        text = text.replace("--title", "TITLE")
        raise CliError("Usage", text, "change the file, or leave out -f", INVALID)
    read = sources.read(call.file)
    if any(source.checked.errors for source in read):
        plan_files.tell_checked(terminal, [source.checked for source in read])
        raise typer.Exit(INVALID)
    _warn(terminal, call, [each for source in read for each in source.checked.warnings])
    tasks = [task for source in read for task in source.tasks]
    if call.name is not None and len(tasks) > 1:
        text = f"--name names one task, and there are {len(tasks)}"
        raise CliError("Usage", text, "leave it out: each is named by its id", INVALID)
    return tasks


def _warn(terminal: Terminal, call: _Call, warnings: Sequence[FieldError]) -> None:
    """Tells of roles that only a cluster may know, where none is asked."""
    if call.dry_run:
        plan_files.tell_each(terminal, warnings)


def _refuse(errors: Sequence[FieldError]) -> None:
    if errors:
        text = "; ".join(error.message for error in errors)
        raise CliError("InvalidTask", text, "correct it: nothing was added", INVALID)


def _judge(tasks: Sequence[Declared], project: ProjectSpec | None, roles: Roles) -> None:
    """What the Project does not offer is refused before anything is made."""
    _refuse(list(_not_offered(tasks, project, roles)))


def _not_offered(
    tasks: Sequence[Declared], project: ProjectSpec | None, roles: Roles
) -> Iterator[FieldError]:
    for task in tasks:
        for error in validate_task(task.spec, project, roles):
            whose = f"'{task.title}': " if len(tasks) > 1 else ""
            yield FieldError(error.path, whose + error.message)


def _named(
    tasks: Sequence[Declared], known: Mapping[str, str], call: _Call, project: str | None
) -> tuple[Named, ...]:
    try:
        return with_names(tasks, known, project=project, name=call.name, key=call.key)
    except Clash as clash:
        text = str(clash)
        raise CliError("InvalidTask", text, "correct it: nothing was added", INVALID) from clash


def _tell(
    terminal: Terminal,
    cluster: Cluster,
    added: Sequence[Added],
    offer: _Offer,
    *,
    one: bool,
) -> None:
    tasks = [each.task for each in added]
    if terminal.json:
        waiting = blockers(tasks)
        records = [task_record(task, waiting) for task in tasks]
        terminal.answer(records[0] if one else records)
    for each in added:
        _tell_one(terminal, cluster, each, offer)


def _tell_one(terminal: Terminal, cluster: Cluster, added: Added, offer: _Offer) -> None:
    task, settings = added.task, terminal.settings
    what, name = called(task), task.metadata.name
    if added.made:
        terminal.say(f"{what} created in namespace '{cluster.namespace}'")
        if told := _agent(task, offer):
            terminal.say(f"  agent:   {told}")
        terminal.quote(f"  see it:  {settings.command_line('watch', f'task/{name}')}")
        return
    ended = is_final(task.status, task.spec.max_retries)
    state = f"has ended ({task_status(task)})" if ended else f"is {task_status(task)}"
    terminal.say(f"{what} unchanged: it asks for the same and {state}")
    if ended:
        terminal.advise("to have it done once more, give another --idempotency-key or --name")


def _agent(task: Task, offer: _Offer) -> str:
    """Which agent does it with which model, and where the Task chose none which others it could
    choose; "" where the Project has no such agent."""
    project = offer.project.spec if offer.project is not None else None
    agent = project.agent(task.spec.cli) if project is not None else None
    if project is None or agent is None:
        return ""
    told = f"{agent.name}, model {route(offer.roles.with_defaults(task.spec), agent).model}"
    others = [each.name for each in project.agents if each is not agent]
    if not others or task.spec.cli not in (None, "auto"):
        return told
    return f"{told}; another one is chosen with --cli: {some(others, len(others))}"
