"""`bernstein validate`"""

from __future__ import annotations

import typer

from bernstein.cli import plan_source
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal
from bernstein.core.estimate import estimate


def validate(settings: Settings, path: str) -> None:
    """Judges a plan file without a cluster; ends with code 2 when it has errors."""
    terminal = Terminal(settings)
    _refuse_options(terminal, settings)
    file = plan_source.read(path)
    if file.report.errors:
        plan_source.refuse(terminal, file, file.report.errors)
        raise typer.Exit(INVALID)
    guess = estimate(file.spec)
    warnings = plan_source.tell_warnings(terminal, file, guess)
    if terminal.json:
        terminal.answer(plan_source.valid_record(guess, warnings))
        return
    terminal.say(f"✓ {file.name} is valid", "green")
    terminal.say(f"  {plan_source.summary(file.spec, guess)}")
    terminal.say(f"  ({guess.basis})", "dim")


def _refuse_options(terminal: Terminal, settings: Settings) -> None:
    """Those before the command that say which cluster: they would have no effect."""
    given = {
        "--namespace": settings.namespace,
        "--context": settings.context,
        "--kubeconfig": settings.kubeconfig,
    }
    useless = [option for option, value in given.items() if value is not None]
    if useless:
        message = f"validate works without a cluster and takes no {', '.join(useless)}"
        remedy = "leave it out" if len(useless) == 1 else "leave them out"
        terminal.fail(CliError("Usage", message, remedy, INVALID))
        raise typer.Exit(INVALID)
