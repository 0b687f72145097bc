"""Standard output for answers, standard error for everything else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bernstein.cli.errors import INTERRUPTED, CliError
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import text as sanitise

_LONGEST_LINE = 4096
_ENDLESS = 10_000
"""Columns of a pipe, more than any table has."""


class Terminal:
    """With `--json` standard output gets one JSON value, and people read standard error."""

    def __init__(self, settings: CliSettings) -> None:
        self.json = settings.json
        self.settings = settings
        self.out = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)
        for console in (self.out, self.err):
            if not console.is_terminal:
                console.width = _ENDLESS

    @property
    def people(self) -> Console:
        """Where people read."""
        return self.err if self.json else self.out

    def show(self, renderable: RenderableType) -> None:
        """Shows people something that holds only sanitised text; a pipe gets all of a table."""
        if isinstance(renderable, Table) and self.people.width == _ENDLESS:
            renderable = _whole(renderable)
        self.people.print(renderable)

    def say(self, message: str, style: str = "") -> None:
        """Shows people a line, unwrapped. It is sanitised here, so it may hold agents' words."""
        self.people.print(Text(sanitise(message, _LONGEST_LINE), style=style), soft_wrap=True)

    def complain(self, message: str, style: str = "") -> None:
        """Shows a line on standard error, sanitised."""
        self.err.print(Text(sanitise(message, _LONGEST_LINE), style=style), soft_wrap=True)

    def answer(self, value: object) -> None:
        """Writes the JSON that scripts read; control characters in it are escaped."""
        self.out.out(json.dumps(value, indent=2), highlight=False)

    def fail(self, error: CliError) -> None:
        """Shows people the error; with `--json` it is the answer, too."""
        if self.json:
            record = {"reason": error.reason, "message": error.message, "remedy": error.remedy}
            self.answer({"error": record})
        self.complain(f"Error: {error.message}", "red")
        if error.remedy:
            self.complain(f"  {error.remedy}")


def _whole(table: Table) -> Table:
    """The table as wide as its cells: what reads a pipe has no width."""
    table.expand = False
    for column in table.columns:
        column.max_width = column.ratio = None
    return table


def run_async(terminal: Terminal, work: Coroutine[Any, Any, int]) -> int:
    """Runs `work` to its end and returns its exit code; a CliError is shown.

    Raises KeyboardInterrupt after `work` has cleaned up.
    """
    try:
        return asyncio.run(work)
    except CliError as error:
        terminal.fail(error)
        return error.code


def run_command(terminal: Terminal, work: Coroutine[Any, Any, None]) -> None:
    """Runs a command to its end and leaves with its exit code."""

    async def finished() -> int:
        await work
        return 0

    try:
        code = run_async(terminal, finished())
    except KeyboardInterrupt:
        code = INTERRUPTED
    raise typer.Exit(code)
