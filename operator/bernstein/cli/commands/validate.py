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
) -> None:
    """Checks plan files and objects, without a cluster.

    Of one plan file it shows an estimate; of anything else a line for each file. Ends with 0 when
    all are valid and with 2 when not.
    """
    from bernstein.cli import manifests

    terminal = Terminal(settings)
    try:
        configuration.tell_gates(terminal)
        paths = [plan_source.located(path, settings.workdir) for path in paths]
    except CliError as error:
        terminal.fail(error)
        raise typer.Exit(error.code) from error
    if len(paths) == 1 and not manifests.is_more_than_a_plan_file(paths[0]):
        _validate_plan_file(terminal, plan_source.read(paths[0], settings.workdir))
        return
    checked = manifests.check(paths)
    plan_files.tell_checked(terminal, checked)
    if not checked or any(each.errors for each in checked):
        raise typer.Exit(INVALID)


def _validate_plan_file(terminal: Terminal, file: PlanFile) -> None:
    if file.field_errors.errors:
        plan_files.refuse(terminal, file, file.field_errors.errors)
        raise typer.Exit(INVALID)
    guess = estimate(file.spec)
    warnings = plan_files.tell_warnings(terminal, file, guess)
    if terminal.json:
        terminal.answer(plan_files.valid_record(guess, warnings))
        return
    terminal.say(f"✓ {file.name} is valid", "green")
    terminal.say(f"  {summary(file.spec, guess)}")
    terminal.say(f"  ({guess.basis}; prices are this program's)", "dim")
