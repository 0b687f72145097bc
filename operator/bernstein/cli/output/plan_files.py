"""Shows what is wrong with a plan file, or what running it will take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bernstein.api.plan import Estimate
from bernstein.api.project import ProjectSpec
from bernstein.cli.manifests import Checked
from bernstein.cli.output.terminal import Terminal, room
from bernstein.cli.plan_source import PlanFile
from bernstein.core.plans.enforced import warned
from bernstein.core.plans.estimate import beyond_budget
from bernstein.core.plans.field_errors import FieldError
from bernstein.core.sanitise import count
from bernstein.core.serializers import Document, estimate_record

_SHOWN = 50
"""Errors of a file that a terminal shows."""


def refuse(terminal: Terminal, file: PlanFile, errors: tuple[FieldError, ...]) -> None:
    """Tells the warnings and the errors, a line each; with `--json` all are the answer.

    A warning that is also among the errors is told once: without a cluster some errors are only
    warnings.
    """
    warnings = tuple(w for w in file.field_errors.warnings if w not in errors)
    tell_each(terminal, warnings)
    _tell_errors(terminal, errors, "✗ ")
    terminal.complain(f"{file.name}: {count(len(errors), 'problem')}")
    if terminal.json:
        terminal.answer(record(errors, warnings))


def tell_checked(terminal: Terminal, checked: Sequence[Checked]) -> None:
    """A line for each file, and below it what is wrong; with `--json` all is the answer."""
    for each in checked:
        mark, style = ("✗", "red") if each.errors else ("✓", "green")
        what = count(len(each.errors), "problem") if each.errors else ", ".join(each.contents)
        tell = terminal.complain if each.errors else terminal.say
        tell(f"{mark} {each.name}: {what}", style)
        _tell_errors(terminal, each.errors, "    ")
        for warning in each.warnings:
            terminal.complain(f"    ! {warning.located}", "yellow")
    if not checked:
        terminal.complain("Nothing to check: there is no plan file and no object of ours.")
    if terminal.json:
        files = [
            {"file": each.name, "contents": list(each.contents)}
            | record(each.errors, each.warnings)
            for each in checked
        ]
        valid = bool(checked) and not any(each.errors for each in checked)
        terminal.answer({"valid": valid, "files": files})


def _tell_errors(terminal: Terminal, errors: Sequence[FieldError], mark: str) -> None:
    shown = room(terminal.err, _SHOWN)
    for error in errors[:shown]:
        terminal.complain(f"{mark}{error.located}", "red")
    if len(errors) > shown:
        terminal.complain(f"{'' if mark.strip() else mark}… and {len(errors) - shown} more")


def valid_record(guess: Estimate, warnings: tuple[FieldError, ...]) -> Document:
    """JSON of a file without errors."""
    return record((), warnings) | {"estimate": estimate_record(guess)}


def record(errors: tuple[FieldError, ...], warnings: tuple[FieldError, ...]) -> Document:
    """JSON of what was found in a file."""
    return {
        "valid": not errors,
        "errors": [_entry(each) for each in errors],
        "warnings": [_entry(each) for each in warnings],
    }


def _entry(error: FieldError) -> Document:
    entry = {"path": error.path, "message": error.message}
    return entry | {"document": error.within} if error.within else entry


def tell_warnings(
    terminal: Terminal, file: PlanFile, guess: Estimate, project: ProjectSpec | None = None
) -> tuple[FieldError, ...]:
    """Tells the warnings about a file without errors, and returns them."""
    of_budget = (*beyond_budget(file.spec, guess), *warned(file.spec, project))
    warnings = (*file.field_errors.warnings, *of_budget)
    tell_each(terminal, warnings)
    return warnings


def tell_each(terminal: Terminal, warnings: Iterable[FieldError]) -> None:
    """A line for each of what is wrong, and yet no reason to stop."""
    for warning in warnings:
        terminal.complain(f"! {warning.located}", "yellow")
