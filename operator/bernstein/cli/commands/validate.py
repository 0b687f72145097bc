"""`bernstein validate`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli import plan_source
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.local import configuration
from bernstein.cli.output import plan_files
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.plan_source import PlanFile
from bernstein.cli.settings import CliSettings
from bernstein.core.outlines.words import summary
from bernstein.core.plans.estimate import estimate
from bernstein.core.roles.known import Roles


def validate(
    settings: CliSettings,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Plan file, objects, or a folder of them, or name of a workflow in "
            ".bernstein/workflows; - is standard input.",
        ),
    ],
    roles: Annotated[
        list[str] | None,
        typer.Option(
            "--roles",
            metavar="DIR_OR_FILE",
            help="AgentRoles that plans may name: objects, folders as `roles apply` takes, or a "
            "folder of either; may be said again.",
        ),
    ] = None,
) -> None:
    """Checks plan files and objects, without a cluster.

    Of one plan file it shows an estimate; of anything else a line for each file. Ends with 0 when
    all are valid and with 2 when not.
    """
    from bernstein.cli import manifests
    from bernstein.cli.local.role_files import RoleFiles

    terminal = Terminal(settings)
    try:
        configuration.tell_gates(terminal)
        paths = [plan_source.located(path, settings.workdir) for path in paths]
    except CliError as error:
        terminal.fail(error)
        raise typer.Exit(error.code) from error
    named = roles or []
    given = RoleFiles(manifests.projects((*paths, *named)) if named else ())
    for path in named:
        given.read(path)
    wrong = any(each.errors for each in given.checked)
    if not wrong and len(paths) == 1 and not manifests.is_more_than_a_plan_file(paths[0]):
        file = plan_source.read(paths[0], settings.workdir, given.roles)
        _validate_plan_file(terminal, file, given.roles)
        return
    checked = [*given.checked, *manifests.check(paths, given.roles)]
    plan_files.tell_checked(terminal, checked)
    if not checked or any(each.errors for each in checked):
        raise typer.Exit(INVALID)


def _validate_plan_file(terminal: Terminal, file: PlanFile, roles: Roles) -> None:
    if file.field_errors.errors:
        plan_files.refuse(terminal, file, file.field_errors.errors)
        raise typer.Exit(INVALID)
    guess = estimate(file.spec, None, roles)
    warnings = plan_files.tell_warnings(terminal, file, guess)
    if terminal.json:
        terminal.answer(plan_files.valid_record(guess, warnings))
        return
    terminal.say(f"✓ {file.name} is valid", "green")
    terminal.say(f"  {summary(file.spec, guess)}")
    terminal.say(f"  ({guess.basis}; prices are this program's)", "dim")
