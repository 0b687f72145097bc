"""Shows people what sessions logged, how they ended, and what checks printed."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from bernstein.api.pod import AGENT
from bernstein.api.session import AgentSession, Prompt
from bernstein.api.states import SessionState
from bernstein.api.verification import CheckResult
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import check_log, pod_log
from bernstein.cli.commands.logs.check_log import CheckLog, CheckLogs
from bernstein.cli.commands.logs.pod_log import LONGEST_LOG, LogEntry, PodLog
from bernstein.cli.commands.logs.subject import LogSubject
from bernstein.cli.output import details
from bernstein.cli.output.terminal import Terminal
from bernstein.core.sanitise import line, text

_LONGEST_OUTCOME = 4096
_DIGEST = 12
"""Characters of a prompt's digest: enough to tell it from others."""


@dataclass
class _Shown:
    """What of a session is on the terminal already."""

    characters: dict[str, int] = field(default_factory=dict)
    """Of its logs, by container."""
    titled: bool = False
    prompted: bool = False
    """What its agent got as its prompt has been told."""
    missing: str = ""
    progress: str = ""
    speaks: bool = False
    """The log holds messages of the agent, so that its progress would say nothing new."""
    ended: bool = False


class Teller:
    """Shows each thing once, however often it is called."""

    def __init__(self, terminal: Terminal, cluster: Cluster, *, follow: bool) -> None:
        self._terminal = terminal
        self._cluster = cluster
        self._follow = follow
        self._shown: dict[str, _Shown] = {}
        self._seen: tuple[int, tuple[CheckResult, ...]] | None = None
        """The number of sessions and the verdicts when check logs were read last."""
        self._score = ""
        """What was told of the quality score."""
        self._unstarted: tuple[object, ...] | None = None
        """What was told of the session before, where its agent never started: it is tried again
        every few seconds, and mostly for the same."""
        self._standstill = ""
        """The reason that was told last why it stands still."""
        self.remedy = ""
        """What was said to help with the session that ended last."""
        self._shown_jobs: set[str] = set()
        """Jobs whose check logs are on the terminal already."""

    async def tell(self, subject: LogSubject) -> None:
        """Shows what is new of every session and of the checks of its work, the oldest first."""
        check_logs = await self._check_logs(subject)
        for session in subject.sessions:
            name = session.metadata.name
            shown = self._shown.setdefault(name, _Shown())
            if not shown.ended:
                await self._tell_session(session, shown)
            self._tell_checks(log for log in check_logs.logs if log.job.startswith(f"{name}-"))
        self._tell_checks(check_logs.logs)
        if check_logs.missing:
            self._terminal.say(check_logs.missing, "dim")
        # How things stand at the end is told with the verdicts.
        if self._follow and not subject.ended and subject.score not in ("", self._score):
            self._score = subject.score
            self._terminal.say(self._score)

    def tell_standstill(self, subject: LogSubject) -> None:
        """Shows why a Task that is followed stands still, or pauses before something is tried
        again, when that is new: nothing else comes of it meanwhile."""
        task = subject.task
        waiting = task.status.waiting if task is not None else None
        pauses = waiting is not None and (waiting.needs_person or waiting.until is not None)
        why = waiting.reason if waiting is not None and pauses else ""
        if task is not None and why and why != self._standstill:
            if waiting is not None and waiting.needs_person:
                self._terminal.say("It stands still, and is followed further:")
            details.tell_stalled(self._terminal, task)
            details.tell_pause(self._terminal, task)
        self._standstill = why

    async def _check_logs(self, subject: LogSubject) -> CheckLogs:
        """All check logs, or none where nothing has happened since they were read: they are
        large."""
        seen = (len(subject.sessions), subject.verdicts)
        if seen == self._seen:
            return CheckLogs()
        self._seen = seen
        return await check_log.read(self._cluster, subject.whose, running=not self._follow)

    def _tell_checks(self, logs: Iterable[CheckLog]) -> None:
        for log in logs:
            if log.job in self._shown_jobs:
                continue
            self._shown_jobs.add(log.job)
            where = f" in {log.repository}" if log.repository else ""
            self._terminal.say(f"── {log.job} · check {log.check}{where} ──", "bold")
            if log.note:
                self._terminal.say(log.note, "dim")
            for row in text(log.text, LONGEST_LOG).splitlines():
                self._terminal.quote(f"  {pod_log.told(row)}")

    async def _tell_session(self, session: AgentSession, shown: _Shown) -> None:
        if not shown.titled:
            shown.titled = True
            self._terminal.say(_title(session), "bold")
        if session.status.prompt is not None and not shown.prompted:
            shown.prompted = True
            self._terminal.say(_prompt(session.status.prompt), "dim")
        log = await pod_log.read(self._cluster, session)
        for entry in pod_log.in_order(_fresh(session, log, shown)):
            self._terminal.say(str(entry))
            shown.speaks = shown.speaks or entry.container == AGENT
        if not shown.speaks:
            self._tell_progress(session, shown)
        if log.missing != shown.missing:
            shown.missing = log.missing
            if log.missing:
                self._terminal.say(log.missing, "dim")
        if session.status.outcome is not None:
            shown.ended = True
            self._tell_outcome(session)

    def _tell_progress(self, session: AgentSession, shown: _Shown) -> None:
        report = session.status.report
        if session.status.state is SessionState.DEAD or not report or not report.progress:
            return
        doing = line(report.progress, 200)
        if doing != shown.progress:
            shown.progress = doing
            moment = report.heartbeat_time.timestamp() if report.heartbeat_time else time.time()
            self._terminal.say(str(LogEntry(moment, AGENT, doing)))

    def _tell_outcome(self, session: AgentSession) -> None:
        outcome = session.status.outcome
        if outcome is None:
            return
        exit_code = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
        said = (outcome.reason, outcome.message, outcome.remedy, outcome.text)
        same = ", as the one before" if said == self._unstarted else ""
        self._unstarted = said if outcome.message and not outcome.started else None
        name = session.metadata.name
        self._terminal.say(f"── {name} ended: {_how(session)}{exit_code}{same} ──", "bold")
        self.remedy = outcome.remedy
        for words in () if same else (outcome.message, outcome.remedy, outcome.text):
            for row in text(words, _LONGEST_OUTCOME).splitlines():
                self._terminal.quote(f"  {row}")


def _how(session: AgentSession) -> str:
    """How it ended, and how its work was judged, if it left any and that is known already."""
    outcome, judged = session.status.outcome, session.status.judgement
    assert outcome is not None
    if outcome.reason != "Succeeded":
        return outcome.reason
    unsure = (
        f", not confident ({line(outcome.low_confidence, 64)})" if outcome.low_confidence else ""
    )
    reported = f"it reports success{unsure}"
    return f"{reported}, {judged}" if judged is not None else reported


def _title(session: AgentSession) -> str:
    spec = session.spec
    return f"── {session.metadata.name} · attempt {spec.attempt} · {spec.agent}, {spec.model} ──"


def _prompt(given: Prompt) -> str:
    """`bernstein prompt` shows the text, and the whole digest."""
    left_out = f"; left out: {', '.join(given.cut)}" if given.cut else ""
    untold = f"; not told: {'; '.join(given.knowledge_missing)}" if given.knowledge_missing else ""
    return f"prompt: {given.bytes:,} bytes, SHA-256 {given.digest[:_DIGEST]}{left_out}{untold}"


def _fresh(session: AgentSession, log: PodLog, shown: _Shown) -> dict[str, str]:
    """What is new, by container; while a session runs, without a last line that is incomplete."""
    over = session.status.state is SessionState.DEAD
    fresh: dict[str, str] = {}
    for container, words in log.texts.items():
        end = len(words) if over else words.rfind("\n") + 1
        fresh[container] = words[shown.characters.get(container, 0) : end]
        shown.characters[container] = end
    return fresh
