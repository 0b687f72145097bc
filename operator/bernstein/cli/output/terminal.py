"""Standard output for answers, standard error for everything else."""

from __future__ import annotations

import asyncio
import json
import re
import textwrap
from collections.abc import Coroutine
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bernstein.cli.errors import INTERRUPTED, CliError
from bernstein.cli.settings import CliSettings
from bernstein.cli.shell import program
from bernstein.core.sanitise import ELLIPSIS, spelled
from bernstein.core.sanitise import text as sanitise

_LONGEST_LINE = 4096
_WHOLE = 65_536
"""Characters, or lines: more than any text of an object's status or spec has."""
_COMMAND = re.compile(r"`[^`]*`")
_KEPT = "\0"
"""A space at which no line ends; no sanitised text has it."""
_ENDLESS = 10_000
"""Columns of a pipe, more than any table has."""


def room(console: Console, limit: int) -> int:
    """So many characters or lines on a terminal; in a pipe or a file nothing is cut."""
    return limit if console.is_terminal else _WHOLE


def fitting(rows: list[str], most: int) -> list[str]:
    """The rows, where there are at most so many; else the first one and the last ones: what a
    program has printed ends with the cause."""
    return rows if len(rows) <= most else [rows[0], ELLIPSIS, *rows[2 - most :]]


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
        if self.people.width != _ENDLESS:
            self.people.print(renderable)
            return
        with self.people.capture() as captured:
            self.people.print(_whole(renderable) if isinstance(renderable, Table) else renderable)
        rows = [row.rstrip() for row in captured.get().splitlines()]
        self.people.print(Text("\n".join(rows)), soft_wrap=True)

    def say(self, message: str, style: str = "") -> None:
        """Shows people a line, wrapped where they read it on a terminal. It is sanitised here, so
        it may hold agents' words."""
        _print(self.people, message, style)

    def quote(self, row: str, style: str = "") -> None:
        """Shows people a line as it is, sanitised: what was printed, or a command to copy."""
        shown = sanitise(row, room(self.people, _LONGEST_LINE))
        self.people.print(Text(shown, style=style), soft_wrap=True)

    def code(self, row: str, style: str = "") -> None:
        """Shows people a line of a file as it is, with what nobody sees spelled out."""
        self.people.print(Text(spelled(row), style=style), soft_wrap=True)

    def advise(self, message: str, style: str = "") -> None:
        """Shows people what helps, below what it is about; its commands reach the same cluster."""
        self.say(f"  {self.settings.placed(message)}", style)

    def complain(self, message: str, style: str = "") -> None:
        """Shows a line on standard error, sanitised."""
        _print(self.err, message, style)

    def answer(self, value: object) -> None:
        """Writes the JSON that scripts read; control characters in it are escaped."""
        self.out.out(json.dumps(value, indent=2), highlight=False)

    def exactly(self, words: str) -> None:
        """Writes these words to standard output, in UTF-8 and to the byte: what is compared by its
        digest. They are sanitised already, by `visible`."""
        file = self.out.file
        file.flush()
        binary = getattr(file, "buffer", None)
        if binary is None:
            file.write(words)
        else:
            binary.write(words.encode())
            binary.flush()

    def stream(self, value: object) -> None:
        """Writes one of many JSON values, on a line of its own."""
        self.out.out(json.dumps(value), highlight=False)

    def fail(self, error: CliError) -> None:
        """Shows people the error; with `--json` it is the answer, too."""
        remedy = self.settings.placed(error.remedy)
        if self.json:
            record = {"reason": error.reason, "message": error.message, "remedy": remedy}
            self.answer({"error": record})
        self.complain(f"Error: {error.message}", "red")
        if remedy:
            self.complain(f"  {remedy}")


def _print(console: Console, message: str, style: str) -> None:
    shown = sanitise(program.named(message), room(console, _LONGEST_LINE))
    if console.is_terminal:
        shown = "\n".join(_wrapped(row, console.width) for row in shown.split("\n"))
    console.print(Text(shown, style=style), soft_wrap=True)


def _wrapped(row: str, width: int) -> str:
    """The row in lines of that width, further ones below its first word. A command and a word that
    are longer stay whole: they are copied."""
    indent = " " * (len(row) - len(row.lstrip(" ")) + 2)
    kept = _COMMAND.sub(lambda found: found[0].replace(" ", _KEPT), row)
    lines = textwrap.wrap(
        kept,
        max(width, 2 * len(indent)),
        subsequent_indent=indent,
        drop_whitespace=True,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(_KEPT, " ")


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
