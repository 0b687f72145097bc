"""`bernstein validate`"""

from __future__ import annotations

from typing import Annotated

import typer

from bernstein.cli import plan_source
from bernstein.cli.errors import INVALID
from bernstein.cli.output import plan_files
from bernstein.cli.output.terminal import Terminal
from bernstein.cli.plan_source import PLAN_FILE
from bernstein.cli.settings import CliSettings
from bernstein.core.plans.estimate import estimate


def validate(settings: CliSettings, path: Annotated[str, PLAN_FILE]) -> None:
    """Checks a plan file, without a cluster.

    Ends with 0 when it is valid and with 2 when not.
    """
    terminal = Terminal(settings)
    file = plan_source.read(path)
    if file.field_errors.errors:
        plan_files.refuse(terminal, file, file.field_errors.errors)
        raise typer.Exit(INVALID)
    guess = estimate(file.spec)
    warnings = plan_files.tell_warnings(terminal, file, guess)
    if terminal.json:
        terminal.answer(plan_files.valid_record(guess, warnings))
        return
    terminal.say(f"✓ {file.name} is valid", "green")
    terminal.say(f"  {plan_files.summary(file.spec, guess)}")
    terminal.say(f"  ({guess.basis})", "dim")
