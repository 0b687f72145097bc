"""OpenAI Codex CLI (`codex exec --json`)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Literal

from bernstein.agents import provider_errors, records
from bernstein.agents.adapter import (
    MESSAGE_LIMIT,
    PROGRESS_LIMIT,
    TEXT_LIMIT,
    Invocation,
    RunSettings,
)
from bernstein.agents.command import KEY_VARIABLE, with_key
from bernstein.api.pod import NO_CHANGE, FinalRecord, Usage
from bernstein.api.reasons import Reason

PUBLIC_ENDPOINT = "https://api.openai.com/v1"
PROVIDER = "bernstein"
_EFFORTS = {"low": "low", "normal": "medium", "high": "high", "max": "xhigh"}
_ERROR = records.looked_at(MESSAGE_LIMIT)
THREADS = 64
"""The most threads of one run whose tokens are counted; an honest run has one."""


class Codex:
    name = "codex"
    takes_base_url: Literal[True] = True
    tells_tokens: Literal[True] = True

    def invocation(self, run: RunSettings) -> Invocation:
        settings = [part for setting in _settings(run) for part in ("-c", setting)]
        argv = [
            *("codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check"),
            # The pod is the sandbox. Rule files in the repository are ignored.
            *("--dangerously-bypass-approvals-and-sandbox", "--ignore-rules"),
            *("-C", run.workdir),
            *(("-m", run.model) if run.model else ()),
            *settings,
            "-",
        ]
        home = f"{run.home}/.codex"
        before = ['mkdir -p "$CODEX_HOME"']
        if run.config_dir:
            source = shlex.quote(f"{run.config_dir}/config.toml")
            before.append(f'if [ -f {source} ]; then cp {source} "$CODEX_HOME/config.toml"; fi')
        return Invocation(
            with_key(argv, run.api_key_file, before=before),
            {"HOME": run.home, "TMPDIR": run.tmp, "CODEX_HOME": home},
        )

    def parser(self) -> CodexParser:
        return CodexParser()


class CodexParser:
    """Reads the events of `codex exec --json`.

    Codex tells usage only at the end of a turn, and then the sum over the thread, so the highest
    counts of each thread are added up. Its `input_tokens` include those read from or written to a
    cache.
    """

    model: str | None = None

    def __init__(self) -> None:
        self.progress = ""
        self._threads: dict[str, Usage] = {}
        self._thread = ""
        self._message = ""
        self._error = ""
        self._ended: str | None = None

    @property
    def usage(self) -> Usage:
        total = Usage()
        for usage in self._threads.values():
            total = records.add(total, usage)
        return total

    def feed(self, line: bytes) -> str:
        record = records.parse(line)
        if record is None:
            return records.plain(line)
        kind = records.text(record, "type")
        if kind == "thread.started":
            self._thread = records.text(record, "thread_id")[:64]
        elif kind == "turn.started":
            self._ended = None
        elif kind in ("item.started", "item.updated", "item.completed"):
            return self._item(record.get("item"), kind)
        elif kind == "error":
            self._error = records.text(record, "message")[:_ERROR]
            return self._error
        elif kind == "turn.failed":
            self._ended = kind
            self._error = records.text(record, "error", "message")[:_ERROR] or self._error
            return self._error
        elif kind == "turn.completed":
            self._ended = kind
            self._count(record.get("usage"))
        return ""

    def finish(self, exit_code: int | None, stderr_tail: bytes) -> FinalRecord:
        text = records.tail(self._message, TEXT_LIMIT)
        if self._ended == "turn.completed" and exit_code in (0, None):
            no_change = any(line.strip() == NO_CHANGE for line in self._message.splitlines())
            return FinalRecord("Succeeded", "The agent reports success.", text, no_change)
        error = self._error or _last_error(stderr_tail)
        if self._ended is None and not error:
            message = f"The output ends without a final record (exit code {exit_code})."
            return FinalRecord(Reason.NO_FINAL_RECORD, message, text)
        if self._ended == "turn.completed":
            message = f"The agent reports success but ended with exit code {exit_code}."
            return FinalRecord(Reason.AGENT_FAILED, message, text)
        outcome = provider_errors.classify(error)
        if self._ended is None and outcome == Reason.AGENT_FAILED:
            outcome = Reason.NO_FINAL_RECORD
        return FinalRecord(
            outcome,
            records.head(error, MESSAGE_LIMIT) or "The agent reports a failure without a reason.",
            text,
            retry_after=provider_errors.retry_after(error),
        )

    def _item(self, item: object, event: str) -> str:
        """Note what the agent does; returns what of this event is told: a command when it starts,
        a message or a change when it is complete."""
        if not isinstance(item, dict):
            return ""
        kind = records.text(item, "type")
        if kind == "agent_message":
            message = records.text(item, "text")
            self._message = records.tail(message, 4 * TEXT_LIMIT)
            self.progress = records.head(self._message, PROGRESS_LIMIT)
            return message if event == "item.completed" else ""
        if kind == "command_execution":
            command = records.text(item, "command")
            self.progress = records.head(f"runs {command[:1000]}", PROGRESS_LIMIT)
            return self.progress if event == "item.started" else ""
        if kind == "file_change":
            names = ", ".join(_changed_paths(item))
            self.progress = records.head(f"changes {names}", PROGRESS_LIMIT)
            return self.progress if event == "item.completed" else ""
        return ""

    def _count(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
        counts = [records.count(usage, name) for name in names]
        # An implausible count, or a thread too many, is not counted at all.
        if None in counts or (self._thread not in self._threads and len(self._threads) >= THREADS):
            return
        total, output, read, write = (count or 0 for count in counts)
        reported = Usage(max(total - read - write, 0), output, read, write)
        before = self._threads.get(self._thread, Usage())
        self._threads[self._thread] = records.highest(before, reported)


def _settings(run: RunSettings) -> Iterator[str]:
    """`key=value` for the option `-c`. Values are TOML, in which JSON's strings are valid."""
    provider = {
        "name": PROVIDER,
        "base_url": run.base_url or PUBLIC_ENDPOINT,
        "wire_api": "responses",
        "request_max_retries": 4,
        "stream_max_retries": 5,
        "stream_idle_timeout_ms": 300_000,
    }
    if run.api_key_file is not None:
        provider["env_key"] = KEY_VARIABLE
    yield f"model_provider={json.dumps(PROVIDER)}"
    for key, value in provider.items():
        yield f"model_providers.{PROVIDER}.{key}={json.dumps(value)}"
    if run.effort is not None:
        yield f"model_reasoning_effort={json.dumps(_EFFORTS[run.effort])}"
    yield 'approval_policy="never"'
    # In an untrusted folder codex does not read settings and hooks of the repository.
    yield f'projects={{{json.dumps(run.workdir)}={{trust_level="untrusted"}}}}'
    yield 'history.persistence="none"'
    yield "check_for_update_on_startup=false"
    yield "analytics.enabled=false"
    # Without the last one a refused connection is retried for ever.
    for feature in ("plugins", "remote_plugin", "apps", "unbounded_connection_retries"):
        yield f"features.{feature}=false"


def _changed_paths(item: records.StreamRecord) -> Iterator[str]:
    changes = item.get("changes")
    for change in changes[:5] if isinstance(changes, list) else ():
        if isinstance(change, dict):
            yield records.text(change, "path")[: records.looked_at(PROGRESS_LIMIT)]


def _last_error(stderr: bytes) -> str:
    """The last line of stderr, without codex's own note about its standard input."""
    lines = stderr[-8192:].decode(errors="replace").splitlines()
    errors = [line for line in lines if line.strip() and "additional input from stdin" not in line]
    return errors[-1][:_ERROR] if errors else ""
