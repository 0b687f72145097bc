"""Program `recorder`: watches an agent, reports on it, makes its tree one commit on the base.

It runs beside the agent until the kubelet ends it (SIGTERM, after the agent's container has ended
or when the pod is deleted). Files and output of the agent may be hostile: they are read under
limits, and nothing in them is taken for true.
"""

from __future__ import annotations

import dataclasses
import os
import threading
import time

from bernstein import agents
from bernstein.agents import StreamParser, low_confidence, records
from bernstein.agents.adapter import MESSAGE_LIMIT, PROGRESS_LIMIT, TEXT_LIMIT
from bernstein.api import encoding, pod
from bernstein.api.pod import FinalRecord, LeftDocument, RecorderConfig, RecorderResult
from bernstein.api.reasons import Reason
from bernstein.core import sanitise
from bernstein.core.documents import DOCUMENTS, handed
from bernstein.core.sessions import blocked, trailers
from bernstein.pods import log, sigterm
from bernstein.pods.errors import PodError
from bernstein.pods.session import stream
from bernstein.pods.session.callback import Beat, CallbackClient, CallbackError, Heart
from bernstein.pods.session.live import Live
from bernstein.pods.session.messages import harmless, harmless_line
from bernstein.pods.worktree.checkpoints import Checkpoints, Trailers

CONFIG = RecorderConfig

_POLL_SECONDS = 0.5
_STDERR_TAIL = 8192
_MODEL_LIMIT = 100
_LAST_CALL_SECONDS = 5.0
_LAST_WORDS_SECONDS = 7.0
"""How long it is read on for the log when the agent has ended: the launcher waits for ten."""
_BY_ITSELF = ("Succeeded", Reason.AGENT_FAILED)
"""Outcomes of agents that ended by themselves."""


def run(config: RecorderConfig) -> RecorderResult:
    """Record until SIGTERM. Raises PodError: SnapshotTooLarge, InvalidPack, InvalidConfig, ..."""
    ended = sigterm.awaited()
    try:
        parser = agents.get(config.adapter).parser()
    except KeyError:
        raise PodError("InvalidConfig", f"there is no adapter '{config.adapter}'") from None
    recorder = Recorder(config, parser)
    try:
        return recorder.run(ended)
    finally:
        recorder.close()


class Recorder:
    """One run beside one agent."""

    def __init__(self, config: RecorderConfig, parser: StreamParser) -> None:
        self._config = config
        self._parser = parser
        self._work = Checkpoints(config)
        self._stdout = stream.Tail(config.stdout)
        self._stderr = stream.Tail(config.stderr)
        self._stop_lock = threading.Lock()
        self._stopped: str | None = None
        self._active = time.monotonic()
        self._client = self._make_client()
        self._beat = Beat()
        self._parser_failed = False
        self._progress = ""
        self._live = Live(config.output)
        self._agent_ended = False
        self._documents: dict[str, bytes] = {}
        self._let_go = time.time()

    def close(self) -> None:
        self._work.close()
        self._stdout.close()
        self._stderr.close()
        self._live.close()

    def _make_client(self) -> CallbackClient | None:
        callback = self._config.callback
        return (
            CallbackClient(callback, self._config.namespace, self._config.session)
            if callback
            else None
        )

    def run(self, ended: threading.Event) -> RecorderResult:
        """Work until `ended` is set; then hand over the last state, report and return it."""
        heart = self._start_heart()
        self._let_go = time.time()
        _make(self._config.start_file)
        every = min(self._config.checkpoint_seconds, self._config.stall_seconds / 3)
        due = time.monotonic()
        try:
            while not ended.wait(_POLL_SECONDS):
                self._look_at_the_agent(ended)
                if time.monotonic() >= due:
                    self._checkpoint()
                    due = time.monotonic() + every
                self._notice_stall()
                self._beat = self._describe()
        finally:
            if heart:
                heart.end()
        return self._finish()

    # --- while the agent runs -------------------------------------------------------------------

    def _start_heart(self) -> Heart | None:
        if self._client is None or self._config.callback is None:
            return None
        seconds = self._config.callback.heartbeat_seconds
        self._beat = self._describe()
        heart = Heart(self._client, seconds, lambda: self._beat, self.stop_agent)
        heart.start()
        return heart

    def _look_at_the_agent(self, over: threading.Event) -> None:
        """Read what it has written. When it has ended, that is all: the launcher waits until it is
        shown. An agent that forges the launcher's record hides its own last words."""
        ended = stream.exists(self._config.exit_record)
        self._read_stream()
        if ended and not self._agent_ended:
            self._agent_ended = True
            until = time.monotonic() + _LAST_WORDS_SECONDS
            while self._behind() and time.monotonic() < until and not over.is_set():
                self._read_stream()
            self._tell_the_end()
            _make(self._config.output_end)

    def _behind(self) -> int:
        """Bytes of the agent's output that are still to be read."""
        return self._stdout.behind + self._stderr.behind

    def _read_stream(self) -> None:
        before = self._stdout.seen + self._stderr.seen
        for line in self._stdout.lines():
            self._feed(line)
        for line in self._stderr.lines():
            self._live.tell(records.plain(line))
        if self._stdout.seen + self._stderr.seen > before:
            self._active = time.monotonic()
        for source in (self._stdout, self._stderr):
            if source.too_long:
                self._live.note(f"lines of more than {stream.LINE_BYTES} bytes are left out")
            if source.unread:
                self._live.note(f"no more is read: the limit is {stream.STREAM_BYTES} bytes")

    def _tell_the_end(self) -> None:
        """Show the last words, or say how much of them is not shown: it is read at the end, then,
        and a line that is not read whole is not taken for one."""
        if not self._stdout.behind and not self._stdout.unread:
            self._feed(self._stdout.last())
        if not self._stderr.behind and not self._stderr.unread:
            self._live.tell(records.plain(self._stderr.last()))
        self._live.finish()
        if behind := self._behind():
            self._live.note(f"the last {behind} bytes are not shown: there was no time for them")

    def _feed(self, line: bytes) -> None:
        try:
            self._live.tell(self._parser.feed(line))
            if not self._live.in_a_key:
                self._progress = self._parser.progress
        except Exception as error:  # noqa: BLE001 - a parser's defect must not lose the work
            if not self._parser_failed:
                log.event("parser-failed", error=type(error).__name__)
            self._parser_failed = True

    def _checkpoint(self) -> None:
        before = self._work.latest_change
        try:
            self._work.checkpoint(final=False)
        except PodError as error:
            log.event("checkpoint-failed", reason=error.reason, message=error.message)
        except OSError as error:  # for example, the volume is full: the agent may free some of it
            log.event("checkpoint-failed", reason="InternalError", message=str(error))
        if self._work.latest_change > before:
            self._active = time.monotonic()

    def _notice_stall(self) -> None:
        if time.monotonic() - self._active >= self._config.stall_seconds:
            self.stop_agent(Reason.STALLED)

    def stop_agent(self, reason: str) -> None:
        """Ask the launcher for a soft stop; only the first call counts. Safe from any thread."""
        with self._stop_lock:
            if self._stopped is not None:
                return
            self._stopped = reason
        _make(self._config.stop_file)
        log.event("stop", reason=reason)

    def _describe(self) -> Beat:
        """What the next heartbeat tells."""
        idle = time.monotonic() - self._active
        commit = self._work.commit
        return Beat(
            usage=self._parser.usage,
            model=self._model(),
            progress=harmless_line(self._progress, PROGRESS_LIMIT),
            last_activity=round(time.time() - idle, 3),
            checkpoint=commit.sha if commit != self._work.objects.base else None,
        )

    def _model(self) -> str | None:
        model = self._parser.model
        return harmless_line(model, _MODEL_LIMIT) if model is not None else None

    # --- the end --------------------------------------------------------------------------------

    def _finish(self) -> RecorderResult:
        """Save the work, then report: the kubelet kills the pod soon. The last commit says how the
        agent ended; where that is still to be read, the work is saved before, too."""
        if self._behind():
            self._checkpoint()
        ending: Trailers = ()
        try:
            final = self._with_documents(self._waiting(self._read_rest()))
            ending = trailers.of(_sanitised(final), self._stopped)
        finally:  # a parser's defect must not lose the work
            self._save(ending)
        result = self._result(final)
        self._hand_over()
        self._report(result)
        return result

    def _save(self, ending: Trailers) -> None:
        try:
            self._work.checkpoint(final=True, ending=ending)
        except BaseException:
            self._work.abort()
            self._report(None)
            raise

    def _read_rest(self) -> FinalRecord:
        for line in self._stdout.rest():
            self._feed(line)
        if self._stdout.skipped:
            log.event("output-skipped", bytes=self._stdout.skipped)
        code = stream.exit_code(self._config.exit_record)
        return self._parser.finish(code, stream.tail_bytes(self._config.stderr, _STDERR_TAIL))

    def _result(self, final: FinalRecord) -> RecorderResult:
        base, commit = self._work.objects.base, self._work.commit
        return fit(
            RecorderResult(
                base=base.sha,
                sha=commit.sha,
                tree=commit.tree,
                changed=self._work.changed(),
                usage=self._parser.usage,
                final=_sanitised(final),
                model=self._model(),
                stopped=self._stopped,
                skipped=self._work.skipped,
                ignored=self._work.ignored,
                let_go=round(self._let_go, 1),
                documents=tuple(
                    LeftDocument(name, len(document), handed.digest(document))
                    for name, document in self._documents.items()
                ),
            )
        )

    def _waiting(self, final: FinalRecord) -> FinalRecord:
        """The record of an agent that says it waits for something, by its file or its last line.

        It ended by itself: what was stopped, or what its provider refused, tells more.
        """
        if self._stopped is not None or final.outcome not in _BY_ITSELF:
            return final
        try:
            block = self._work.blocked() or blocked.of_message(final.text)
        except ValueError as error:
            text = f"what it left in {blocked.PATH} cannot be read: {error}"
            return dataclasses.replace(final, outcome=Reason.BLOCK_REFUSED, message=text)
        if block is None:
            return final
        return dataclasses.replace(
            final, outcome=Reason.BLOCKED, message=block.text, waits_for=block.tasks
        )

    def _with_documents(self, final: FinalRecord) -> FinalRecord:
        """Take what an agent that reports success has left beside its code. Its record, where that
        is not what it is to be."""
        if self._stopped is not None or final.outcome != "Succeeded":
            return final
        for document in DOCUMENTS:
            try:
                data = self._work.document(document)
            except ValueError as error:
                text = f"{document.path} is not taken: {error}"
                self._documents.clear()
                return dataclasses.replace(final, outcome=Reason.DOCUMENT_REFUSED, message=text)
            if data is not None:
                self._documents[document.name] = data
        return final

    def _hand_over(self) -> None:
        """Print what was taken: the operator reads it from the log."""
        for name, document in self._documents.items():
            for row in handed.lines(name, document):
                print(row, flush=True)  # noqa: T201

    def _report(self, result: RecorderResult | None) -> None:
        """Send the result (or, without one, the last usage) to the server.

        Best effort, in a thread that is left behind after _LAST_CALL_SECONDS.
        """
        if self._client is None:
            return
        caller = threading.Thread(target=self._last_call, args=(self._client, result), daemon=True)
        caller.start()
        caller.join(_LAST_CALL_SECONDS)

    def _last_call(self, client: CallbackClient, result: RecorderResult | None) -> None:
        try:
            if result is None:
                client.heartbeat(self._describe(), _LAST_CALL_SECONDS)
            else:
                client.result(result, _LAST_CALL_SECONDS)
        except CallbackError as error:
            log.event("result-not-reported", status=error.status, message=str(error))


def _make(path: str) -> None:
    """Make an empty file, for which the launcher waits."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644))


def _sanitised(final: FinalRecord) -> FinalRecord:
    message = harmless_line(final.message, MESSAGE_LIMIT)
    unsure = low_confidence.found(sanitise.visible(final.text))
    text = harmless(final.text, TEXT_LIMIT)
    return dataclasses.replace(final, message=message, text=text, low_confidence=unsure)


def fit(result: RecorderResult) -> RecorderResult:
    """The result with the longer of the agent's `text` and `message` cut, again and again, until it
    fits the termination message. Where that is not enough, no file is named but one."""
    while (over := len(encoding.dump(result)) - pod.TERMINATION_FEW) > 0:
        name = max("text", "message", key=lambda field: len(getattr(result.final, field)))
        words = getattr(result.final, name)
        if not words:
            changed = dataclasses.replace(result.changed, most=(), protected_more=())
            return dataclasses.replace(result, changed=changed, ignored="")
        # A character takes at most twelve bytes of JSON. Never more than half at once: what is over
        # may be the other's.
        shorter = words[: max(len(words) - max(over // 12, 1), len(words) // 2)]
        result = dataclasses.replace(
            result, final=dataclasses.replace(result.final, **{name: shorter})
        )
    return result
