"""What a call of the command line answered."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from typer.testing import CliRunner

from bernstein.cli.main import app


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


_calling = asyncio.Lock()


async def call(
    *arguments: str, environment: dict[str, str], standard_input: str | None = None
) -> Answer:
    """Calls the command line within this process, in a thread of its own. What it prints is taken
    from the whole process: a second call at the same time is an error.
    """
    assert not _calling.locked(), "of calls at the same time each is a process of its own"
    async with _calling:
        runner = CliRunner(env=environment)
        done = await asyncio.to_thread(runner.invoke, app, arguments, input=standard_input)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Answer(done.exit_code, done.stdout, done.stderr)
