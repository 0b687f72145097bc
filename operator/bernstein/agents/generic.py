"""Any command: the prompt on standard input, success by exit code, no token counts."""

from __future__ import annotations

from typing import Literal

from bernstein.agents import records
from bernstein.agents.adapter import (
    MESSAGE_LIMIT,
    PROGRESS_LIMIT,
    TEXT_LIMIT,
    Invocation,
    RunSettings,
)
from bernstein.agents.command import with_key
from bernstein.api.pod import NO_CHANGE, FinalRecord, Usage
from bernstein.api.reasons import Reason

BY_SIGNAL = 128
"""Exit codes above this one mean that the command was killed by the signal of that number less."""


class Generic:
    """The command finds model, endpoint and key in `MODEL`, `MODEL_BASE_URL`, `MODEL_API_KEY`."""

    name = "generic"
    takes_command: Literal[True] = True
    takes_base_url: Literal[True] = True

    def invocation(self, run: RunSettings) -> Invocation:
        env = {"HOME": run.home, "TMPDIR": run.tmp, "MODEL": run.model}
        if run.effort is not None:
            env["MODEL_EFFORT"] = run.effort
        if run.base_url is not None:
            env["MODEL_BASE_URL"] = run.base_url
        return Invocation(with_key(run.command, run.api_key_file), env)

    def parser(self) -> GenericParser:
        return GenericParser()


class GenericParser:
    """Keeps the tail of plain text."""

    usage = Usage()
    model: str | None = None

    def __init__(self) -> None:
        self.progress = ""
        self._tail = ""

    def feed(self, line: bytes) -> str:
        text = line[-TEXT_LIMIT * 4 :].decode(errors="replace").rstrip("\r\n")
        if text.strip():
            self.progress = records.head(text, PROGRESS_LIMIT)
            self._tail = records.tail(f"{self._tail}\n{text}".lstrip("\n"), TEXT_LIMIT)
        return records.plain(line)

    def finish(self, exit_code: int | None, stderr_tail: bytes) -> FinalRecord:
        if exit_code is None:
            message = "It is not known how the command ended."
            return FinalRecord(Reason.NO_FINAL_RECORD, message, self._tail)
        if exit_code == 0:
            no_change = any(line.strip() == NO_CHANGE for line in self._tail.splitlines())
            return FinalRecord("Succeeded", "The command ended with 0.", self._tail, no_change)
        stderr = stderr_tail[-MESSAGE_LIMIT * 4 :].decode(errors="replace").strip()
        last_line = stderr.splitlines()[-1] if stderr else ""
        killed = exit_code > BY_SIGNAL
        end = f"killed by signal {exit_code - BY_SIGNAL}" if killed else f"{exit_code}"
        message = records.head(f"The command ended with {end}. {last_line}", MESSAGE_LIMIT)
        return FinalRecord(Reason.AGENT_FAILED, message, self._tail)
