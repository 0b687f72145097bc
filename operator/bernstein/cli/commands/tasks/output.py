"""`bernstein output`"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from bernstein.api.task import Output
from bernstein.cli.cluster import Cluster, connected
from bernstein.cli.errors import CliError
from bernstein.cli.naming import called
from bernstein.cli.output.terminal import Terminal, run_command
from bernstein.cli.settings import CliSettings
from bernstein.core import names
from bernstein.core.documents import OUTPUT, kept
from bernstein.core.documents.values import Json, Problem
from bernstein.core.sanitise import visible
from bernstein.resources import TASKS


def output(
    settings: CliSettings,
    name: Annotated[str, typer.Argument(metavar="TASK", help="Name of a Task; or task/NAME.")],
) -> None:
    """Shows the values that a task's agent has left for others to read.

    They are the agent's word: nothing has judged them.
    """
    terminal = Terminal(settings)
    run_command(terminal, _output(terminal, name.removeprefix("task/")))


async def _output(terminal: Terminal, name: str) -> None:
    async with connected(terminal.settings) as cluster:
        task = await cluster.find_task(name)
        if task is None:
            raise await cluster.not_found(name, TASKS)
        left = task.status.output
        if left is None:
            text = f"{called(task)} has left no output"
            raise CliError("NoOutput", text, f"see how it stands with `bernstein logs {name}`")
        value = await _value(cluster, left)
    if not terminal.json:
        terminal.out.out(_shown(value), highlight=False)
        return
    told = {"session": left.session, "bytes": left.bytes, "sha256": left.sha256}
    terminal.answer({"task_id": task.metadata.name, **told, "output": value})


async def _value(cluster: Cluster, left: Output) -> Json:
    found = await cluster.config_map(names.documents(left.session))
    document = kept.content(found or {}, OUTPUT.name, left.sha256)
    if document is None:
        raise CliError(
            "OutputLost",
            f"the output of session '{left.session}' is not there: its node could not be asked "
            "for it in time, or somebody has deleted it",
            "what the agent has written to files is not lost; values come with another run",
        )
    value = OUTPUT.parsed(document)
    if isinstance(value, Problem):
        raise CliError(
            "OutputInvalid",
            f"the output of session '{left.session}' is not taken: {value.text}",
            "this program may be older than the operator",
        )
    return value


def _shown(value: Json) -> str:
    """JSON in which what nobody would see is escaped."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(
        char if char == "\n" or visible(char) == char else json.dumps(char)[1:-1] for char in text
    )
