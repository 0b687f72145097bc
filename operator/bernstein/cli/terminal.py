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
from bernstein.cli.settings import Settings
from bernstein.core.sanitise import text as sanitise

_LONGEST_LINE = 4096


class Terminal:
    """With `--json` standard output gets one JSON value, and people read standard error."""

    def __init__(self, settings: Settings) -> None:
        self.json = settings.json
        self.out = Console(highlight=False, soft_wrap=False, markup=False, emoji=False)
        self.err = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)

    @property
    def people(self) -> Console:
        """Where people read."""
        return self.err if self.json else self.out

    def show(self, renderable: RenderableType) -> None:
        """For people; nothing that is not sanitised may be in it."""
        self.people.print(renderable)

    def say(self, message: str, style: str = "") -> None:
        """A line for people, unwrapped; agents' words in it do no harm."""
        self.people.print(Text(sanitise(message, _LONGEST_LINE), style=style), soft_wrap=True)

    def complain(self, message: str, style: str = "") -> None:
        """A line on standard error."""
        self.err.print(Text(sanitise(message, _LONGEST_LINE), style=style), soft_wrap=True)

    def answer(self, value: object) -> None:
        """The JSON that scripts read; escapes keep control characters out of it."""
        self.out.out(json.dumps(value, indent=2), highlight=False)

    def fail(self, error: CliError) -> None:
        """The error for people; with `--json` it is the answer, too."""
        if self.json:
            told = {"reason": error.reason, "message": error.message, "remedy": error.remedy}
            self.answer({"error": told})
        self.complain(f"Error: {error.message}", "red")
        if error.remedy:
            self.complain(f"  {error.remedy}")


def run_async(terminal: Terminal, work: Coroutine[Any, Any, int]) -> int:
    """The exit code of a command; an error that is known is told on standard error.

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
