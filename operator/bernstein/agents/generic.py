"""Any command: the prompt on standard input, success by exit code, no token counts."""

from __future__ import annotations

from bernstein.agents import records
from bernstein.agents.adapter import (
    MESSAGE_LIMIT,
    PROGRESS_LIMIT,
    TEXT_LIMIT,
    Invocation,
    Run,
)
from bernstein.agents.command import with_key
from bernstein.api.pod import NO_CHANGE, FinalRecord, Usage

MISUSED = 126
"""Exit codes from here on are the shell's or the launcher's, or a signal's."""


class Generic:
    """The command finds model, endpoint and key in `MODEL`, `MODEL_BASE_URL`, `MODEL_API_KEY`."""

    name = "generic"

    def invocation(self, run: Run) -> Invocation:
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
        """No line is a message: what the command says and what it only passes on looks the same."""
        said = line[-TEXT_LIMIT * 4 :].decode(errors="replace").rstrip("\r\n")
        if said.strip():
            self.progress = records.head(said, PROGRESS_LIMIT)
            self._tail = records.tail(f"{self._tail}\n{said}".lstrip("\n"), TEXT_LIMIT)
        return ""

    def finish(self, exit_code: int | None, stderr_tail: bytes) -> FinalRecord:
        if exit_code is None:
            message = "It is not known how the command ended."
            return FinalRecord("NoFinalRecord", message, self._tail)
        if exit_code == 0:
            no_change = any(line.strip() == NO_CHANGE for line in self._tail.splitlines())
            return FinalRecord("Succeeded", "The command ended with 0.", self._tail, no_change)
        said = stderr_tail[-MESSAGE_LIMIT * 4 :].decode(errors="replace").strip()
        reason = said.splitlines()[-1] if said else ""
        ended = f"killed by signal {exit_code - 128}" if exit_code > MISUSED + 2 else f"{exit_code}"
        message = records.head(f"The command ended with {ended}. {reason}", MESSAGE_LIMIT)
        return FinalRecord("AgentFailed", message, self._tail)
