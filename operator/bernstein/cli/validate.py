"""`bernstein validate`"""

from __future__ import annotations

import typer

from bernstein.cli import plan_source
from bernstein.cli.errors import INVALID
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal
from bernstein.core.estimate import estimate


def validate(settings: Settings, path: str) -> None:
    """Judges a plan file without a cluster; ends with code 2 when it has errors."""
    terminal = Terminal(settings)
    file = plan_source.read(path)
    plan_source.tell_warnings(terminal, file.report.warnings)
    if file.report.errors:
        plan_source.refuse(terminal, file, file.report.errors)
        raise typer.Exit(INVALID)
    if terminal.json:
        terminal.answer(plan_source.valid_record(file))
        return
    guess = estimate(file.spec)
    terminal.say(f"✓ {file.path} is valid", "green")
    terminal.say(f"  {plan_source.summary(file.spec, guess)}")
    terminal.say(f"  ({guess.basis})", "dim")
