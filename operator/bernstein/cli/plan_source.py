"""Plan files from disk, judged before anything is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bernstein.api.plan import Estimate, PlanSpec
from bernstein.cli.terminal import Terminal
from bernstein.core import plan_file
from bernstein.core.estimate import beyond_budget
from bernstein.core.plan_spec import plan_spec
from bernstein.core.plan_validation import validate_file
from bernstein.core.problems import Problem, Report
from bernstein.core.records import Record, estimate_record

_SHOWN = 50


@dataclass(frozen=True)
class PlanFile:
    """What a file contains and what is wrong with it."""

    name: str
    """For people."""
    data: Any
    report: Report

    @property
    def spec(self) -> PlanSpec:
        """Of a file without errors."""
        return PlanSpec.model_validate(plan_spec(self.data))


def read(path: str) -> PlanFile:
    """Reads and judges a plan file; `-` is standard input. What cannot be read is a problem."""
    name = {"-": "standard input", "": "''"}.get(path, path)
    try:
        data = plan_file.parse(_content(path))
    except FileNotFoundError:
        return _unreadable(name, f"Plan file not found: {name}")
    except OSError as error:
        return _unreadable(name, f"Plan file cannot be read: {name}: {error.strerror}")
    except plan_file.PlanSyntaxError as error:
        return _unreadable(name, str(error))
    return PlanFile(name, data, validate_file(data))


def _unreadable(name: str, message: str) -> PlanFile:
    return PlanFile(name, None, Report(errors=(Problem("", message),)))


def _content(path: str) -> bytes:
    limit = plan_file.MAX_BYTES + 1
    if path == "-":
        return sys.stdin.buffer.read(limit)
    if not path:
        raise FileNotFoundError  # as a Path it would be the folder
    with Path(path).open("rb") as file:
        return file.read(limit)


def refuse(terminal: Terminal, file: PlanFile, errors: tuple[Problem, ...]) -> None:
    """Every error on its line, the first ones of very many; with `--json` all as the answer.

    What is only a warning offline may be among the errors of a cluster: that is told once.
    """
    warnings = tuple(problem for problem in file.report.warnings if problem not in errors)
    _tell(terminal, warnings)
    for problem in errors[:_SHOWN]:
        terminal.complain(f"✗ {problem.located}", "red")
    if len(errors) > _SHOWN:
        terminal.complain(f"… and {len(errors) - _SHOWN} more")
    terminal.complain(f"{file.name}: {_count(len(errors), 'problem')}")
    if terminal.json:
        terminal.answer(_record(errors, warnings))


def valid_record(guess: Estimate, warnings: tuple[Problem, ...]) -> Record:
    """JSON of a file without errors."""
    return _record((), warnings) | {"estimate": estimate_record(guess)}


def _record(errors: tuple[Problem, ...], warnings: tuple[Problem, ...]) -> Record:
    return {
        "valid": not errors,
        "errors": [{"path": p.path, "message": p.message} for p in errors],
        "warnings": [{"path": p.path, "message": p.message} for p in warnings],
    }


def tell_warnings(terminal: Terminal, file: PlanFile, guess: Estimate) -> tuple[Problem, ...]:
    """Of a file without errors; returns them."""
    warnings = (*file.report.warnings, *beyond_budget(file.spec, guess))
    _tell(terminal, warnings)
    return warnings


def _tell(terminal: Terminal, warnings: Iterable[Problem]) -> None:
    for problem in warnings:
        terminal.complain(f"! {problem.located}", "yellow")


def summary(spec: PlanSpec, guess: Estimate) -> str:
    """One line: size, time and money."""
    steps = sum(len(stage.steps) for stage in spec.stages)
    size = f"{_count(len(spec.stages), 'stage')}, {_count(steps, 'step')}"
    cost = f", about ${float(guess.cost_usd):.2f}" if guess.cost_usd else ""
    budget = f" of a budget of ${float(spec.budget):.2f}" if cost and spec.budget else ""
    return f"{size}, about {_minutes(guess.minutes)}{cost}{budget}"


def _minutes(number: int) -> str:
    hours, rest = divmod(number, 60)
    return f"{hours} h {rest:02} min" if hours else f"{rest} min"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
