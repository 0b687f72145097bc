"""`bernstein validate`"""

from __future__ import annotations

from collections.abc import Iterable

import typer

from bernstein.cli import plan_source
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.plan_source import PlanFile
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal
from bernstein.core.estimate import estimate
from bernstein.core.problems import Problem
from bernstein.core.records import Record, estimate_record


def validate(settings: Settings, path: str) -> None:
    """Judges a plan file without a cluster; ends with code 2 when it has errors."""
    terminal = Terminal(settings)
    try:
        found = plan_source.read(path)
    except CliError as error:
        if settings.json:
            problem = {"path": "", "message": error.message}
            terminal.answer({"valid": False, "errors": [problem], "warnings": []})
        else:
            terminal.fail(error)
        raise typer.Exit(error.code) from None
    if settings.json:
        terminal.answer(file_record(found))
    else:
        _tell(terminal, found)
    if found.report.errors:
        raise typer.Exit(INVALID)


def _tell(terminal: Terminal, found: PlanFile) -> None:
    plan_source.tell_warnings(terminal, found.report.warnings)
    if found.report.errors:
        plan_source.tell_problems(terminal, found.path, found.report.errors)
        return
    guess = estimate(found.spec)
    terminal.say(f"✓ {found.path} is valid", "green")
    terminal.say(f"  {plan_source.summary(found.spec, guess)}")
    terminal.say(f"  ({guess.basis})", "dim")


def file_record(found: PlanFile) -> Record:
    errors, warnings = found.report.errors, found.report.warnings
    record: Record = {
        "valid": not errors,
        "errors": _problems(errors),
        "warnings": _problems(warnings),
    }
    if not errors:
        record["estimate"] = estimate_record(estimate(found.spec))
    return record


def _problems(problems: Iterable[Problem]) -> list[Record]:
    return [{"path": p.path, "message": p.message} for p in problems]
