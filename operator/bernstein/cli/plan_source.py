"""Plan files from disk, judged before anything is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bernstein.api.plan import Estimate, PlanSpec
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.terminal import Terminal
from bernstein.core import plan_file
from bernstein.core.plan_spec import plan_spec
from bernstein.core.plan_validation import validate_file
from bernstein.core.problems import Problem, Report

_SHOWN = 50


@dataclass(frozen=True)
class PlanFile:
    """What a file contains and what is wrong with it."""

    path: str
    data: Any
    report: Report

    @property
    def spec(self) -> PlanSpec:
        """Of a file without errors."""
        return PlanSpec.model_validate(plan_spec(self.data))


def read(path: str) -> PlanFile:
    """Reads and judges a plan file; `-` is standard input. Raises CliError when it cannot."""
    try:
        data = plan_file.parse(_content(path))
    except plan_file.PlanSyntaxError as error:
        raise CliError("PlanInvalid", str(error), code=INVALID) from error
    return PlanFile(path, data, validate_file(data))


def _content(path: str) -> bytes:
    limit = plan_file.MAX_BYTES + 1
    if path == "-":
        return sys.stdin.buffer.read(limit)
    try:
        with Path(path).open("rb") as file:
            return file.read(limit)
    except FileNotFoundError as error:
        raise CliError("PlanNotFound", f"Plan file not found: {path}", code=INVALID) from error
    except OSError as error:
        message = f"Plan file cannot be read: {path}: {error.strerror}"
        raise CliError("PlanNotFound", message, code=INVALID) from error


def tell_problems(terminal: Terminal, path: str, errors: Iterable[Problem]) -> None:
    """Every error on its line; the first ones of very many."""
    found = tuple(errors)
    for problem in found[:_SHOWN]:
        terminal.complain(f"✗ {problem.located}", "red")
    if len(found) > _SHOWN:
        terminal.complain(f"… and {len(found) - _SHOWN} more")
    number = "1 problem" if len(found) == 1 else f"{len(found)} problems"
    terminal.complain(f"{path}: {number}")


def tell_warnings(terminal: Terminal, warnings: Iterable[Problem]) -> None:
    for problem in warnings:
        terminal.complain(f"! {problem.located}", "yellow")


def summary(spec: PlanSpec, estimate: Estimate) -> str:
    """One line: size, time and money."""
    steps = sum(len(stage.steps) for stage in spec.stages)
    size = f"{_count(len(spec.stages), 'stage')}, {_count(steps, 'step')}"
    cost = f", about ${float(estimate.cost_usd):.2f}" if estimate.cost_usd else ""
    budget = f" of a budget of ${float(spec.budget):.2f}" if cost and spec.budget else ""
    return f"{size}, about {minutes(estimate.minutes)}{cost}{budget}"


def minutes(number: int) -> str:
    hours, rest = divmod(number, 60)
    return f"{hours} h {rest:02} min" if hours else f"{rest} min"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
