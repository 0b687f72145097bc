"""Standard output for answers, standard error for everything else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from bernstein.cli.errors import INTERRUPTED, CliError
from bernstein.cli.settings import CliSettings
from bernstein.core.sanitise import text as sanitise

_LONGEST_LINE = 4096


class Terminal:
    """With `--json` standard output gets one JSON value, and people read standard error."""

    def __init__(self, settings: CliSettings) -> None:
        self.json = settings.json
        self.settings = settings
        self.out = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)

    @property
    def people(self) -> Console:
        """Where people read."""
        return self.err if self.json else self.out

    def show(self, renderable: RenderableType) -> None:
        """Shows people something that holds only sanitised text."""
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
