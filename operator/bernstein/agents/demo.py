"""The scripted agent of examples and tests (`demo-agent`), which plays a scenario file."""

from __future__ import annotations

from typing import Literal

from bernstein.agents import records
from bernstein.agents.adapter import (
    MESSAGE_LIMIT,
    PROGRESS_LIMIT,
    RETRY_LIMIT,
    TEXT_LIMIT,
    Invocation,
    RunSettings,
)
from bernstein.api.pod import FinalRecord, Usage
from bernstein.api.reasons import Reason

OUTCOMES = {
    "rate_limit": Reason.RATE_LIMITED,
    "usage_limit": Reason.USAGE_LIMITED,
    "auth": Reason.MODEL_AUTH_FAILED,
    "unavailable": Reason.PROVIDER_UNAVAILABLE,
    "max_turns": Reason.MAX_TURNS,
    "refused": Reason.REFUSED,
}


class Demo:
    name = "demo"
    tells_tokens: Literal[True] = True

    def invocation(self, run: RunSettings) -> Invocation:
        folder = run.config_dir or "/etc/agent"
        argv = ["demo-agent", "--scenario", f"{folder}/scenario.yaml"]
        if run.model:
            argv += ["--model", run.model]
        return Invocation(tuple(argv), {"HOME": run.home, "TMPDIR": run.tmp})

    def parser(self) -> DemoParser:
        return DemoParser()


class DemoParser:
    """Reads JSON lines: `start`, `message`, `usage` (of one request) and at last `result`."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.model: str | None = None
        self.progress = ""
        self._result: records.StreamRecord | None = None

    def feed(self, line: bytes) -> str:
        record = records.parse(line)
        if record is None:
            return records.plain(line)
        kind = records.text(record, "type")
        if kind == "start":
            self.model = records.text(record, "model")[:PROGRESS_LIMIT] or self.model
        elif kind == "message":
            message = records.text(record, "text")
            self.progress = records.head(message, PROGRESS_LIMIT)
            return message
        elif kind == "usage":
            self._count(record)
        elif kind == "result":
            self._result = record
            return records.text(record, "error", "message") or records.text(record, "text")
        return ""

    def finish(self, exit_code: int | None, stderr_tail: bytes) -> FinalRecord:
        if self._result is None:
            stderr = records.head(stderr_tail[-2000:].decode(errors="replace"), 300)
            message = f"The output ends without a result (exit code {exit_code}). {stderr}".strip()
            return FinalRecord(Reason.NO_FINAL_RECORD, message)
        text = records.tail(records.text(self._result, "text"), TEXT_LIMIT)
        error = self._result.get("error")
        if isinstance(error, dict):
            after = records.count(error, "retry_after")
            return FinalRecord(
                OUTCOMES.get(records.text(error, "kind"), Reason.AGENT_FAILED),
                records.head(records.text(error, "message"), MESSAGE_LIMIT),
                text,
                retry_after=min(after, RETRY_LIMIT) if after else None,
            )
        if exit_code not in (0, None):
            message = f"The agent reports success but ended with exit code {exit_code}."
            return FinalRecord(Reason.AGENT_FAILED, message, text)
        no_change = self._result.get("no_change") is True
        return FinalRecord("Succeeded", "The agent reports success.", text, no_change)

    def _count(self, record: records.StreamRecord) -> None:
        names = ("input", "output", "cache_read", "cache_write")
        counts = [count for name in names if (count := records.count(record, name)) is not None]
        if len(counts) == len(names):
            self.usage = records.add(self.usage, Usage(*counts))
