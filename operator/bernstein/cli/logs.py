"""`bernstein logs`"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.cli import details, pod_log
from bernstein.cli.cluster import SESSIONS, TASKS, Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.pod_log import AGENT, Entry, PodLog
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_command
from bernstein.core.fsm import is_final
from bernstein.core.records import Record, task_record
from bernstein.core.sanitise import line, text

_LONGEST_LOG = 4 * 1024 * 1024
_LONGEST_OUTCOME = 4096
_INTERVAL = 2.0


@dataclass(frozen=True)
class _Subject:
    """A Task with all its sessions, or one session."""

    task: Task | None
    sessions: tuple[AgentSession, ...]

    @property
    def ended(self) -> bool:
        if self.task is not None:
            return is_final(self.task.status, self.task.spec.max_retries)
        return all(s.status.state is SessionState.DEAD for s in self.sessions)


@dataclass
class _Shown:
    """What of a session is on the terminal already."""

    characters: dict[str, int] = field(default_factory=dict)
    """By container."""
    titled: bool = False
    missing: str = ""
    progress: str = ""
    speaks: bool = False
    """The agent's own messages are in the log, so that its progress says nothing new."""
    ended: bool = False


def logs(settings: Settings, name: str, *, follow: bool) -> None:
    """What the containers of a Task's sessions logged, and how the sessions ended."""
    terminal = Terminal(settings)
    run_command(terminal, _logs(terminal, settings, name, follow))


async def _logs(terminal: Terminal, settings: Settings, name: str, follow: bool) -> None:
    if follow and settings.json:
        message = "--follow and --json exclude each other"
        raise CliError("Usage", message, "leave one of them out", INVALID)
    async with connected(settings) as cluster:
        subject = await _find(cluster, name)
        if settings.json:
            terminal.answer(await _record(cluster, subject))
            return
        if not subject.sessions:
            terminal.say("It has had no session yet.")
        teller = _Teller(terminal, cluster)
        await teller.tell(subject)
        while follow and not subject.ended:
            await asyncio.sleep(_INTERVAL)
            subject = await _find(cluster, name)
            await teller.tell(subject)
        if subject.task is not None:
            details.tell_task(terminal, subject.task)


async def _find(cluster: Cluster, name: str) -> _Subject:
    task = await cluster.find_task(name)
    if task is not None:
        return _Subject(task, tuple(await cluster.sessions(name)))
    session = await cluster.find_session(name)
    if session is None:
        raise await cluster.not_found(name, TASKS, SESSIONS)
    return _Subject(None, (session,))


class _Teller:
    """Tells each thing once, however often it is asked."""

    def __init__(self, terminal: Terminal, cluster: Cluster) -> None:
        self._terminal = terminal
        self._cluster = cluster
        self._shown: dict[str, _Shown] = {}

    async def tell(self, subject: _Subject) -> None:
        """What is new of every session, the first one first."""
        for session in subject.sessions:
            shown = self._shown.setdefault(session.metadata.name, _Shown())
            if not shown.ended:
                await self._tell_session(session, shown)

    async def _tell_session(self, session: AgentSession, shown: _Shown) -> None:
        if not shown.titled:
            shown.titled = True
            self._terminal.say(_title(session), "bold")
        found = await pod_log.read(self._cluster, session)
        for entry in pod_log.in_order(_fresh(session, found, shown)):
            self._terminal.say(str(entry))
            shown.speaks = shown.speaks or entry.container == AGENT
        if not shown.speaks:
            self._tell_progress(session, shown)
        if found.missing != shown.missing:
            shown.missing = found.missing
            if found.missing:
                self._terminal.say(found.missing, "dim")
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
            self._terminal.say(str(Entry(moment, AGENT, doing)))

    def _tell_outcome(self, session: AgentSession) -> None:
        outcome = session.status.outcome
        if outcome is None:
            return
        exit_code = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
        name = session.metadata.name
        self._terminal.say(f"── {name} ended: {outcome.reason}{exit_code} ──", "bold")
        for words in (outcome.message, outcome.remedy, outcome.text):
            for row in text(words, _LONGEST_OUTCOME).splitlines():
                self._terminal.say(f"  {row}")


def _title(session: AgentSession) -> str:
    spec = session.spec
    return f"── {session.metadata.name} · attempt {spec.attempt} · {spec.agent}, {spec.model} ──"


def _fresh(session: AgentSession, found: PodLog, shown: _Shown) -> dict[str, str]:
    """By container, what is new; while a session runs, the last line may still be growing."""
    over = session.status.state is SessionState.DEAD
    fresh: dict[str, str] = {}
    for container, written in found.written.items():
        end = len(written) if over else written.rfind("\n") + 1
        fresh[container] = written[shown.characters.get(container, 0) : end]
        shown.characters[container] = end
    return fresh


async def _record(cluster: Cluster, subject: _Subject) -> Record:
    return {
        "task": task_record(subject.task) if subject.task else None,
        "sessions": [await _session_record(cluster, session) for session in subject.sessions],
    }


async def _session_record(cluster: Cluster, session: AgentSession) -> Record:
    found, pod, report = await pod_log.read(cluster, session), session.status.pod, None
    if session.status.state is not SessionState.DEAD:
        report = session.status.report
    return {
        "session": session.metadata.name,
        "attempt": session.spec.attempt,
        "agent": session.spec.agent,
        "model": session.spec.model,
        "state": (session.status.state or SessionState.STARTING).lower(),
        "pod": pod.name if pod else None,
        "progress": line(report.progress, 200) if report and report.progress else None,
        "outcome": _outcome(session),
        "logs": {name: text(log, _LONGEST_LOG) for name, log in found.written.items()},
        "logs_missing": found.missing or None,
    }


def _outcome(session: AgentSession) -> Record | None:
    outcome = session.status.outcome
    if outcome is None:
        return None
    return {
        "reason": outcome.reason,
        "message": text(outcome.message, 2048),
        "remedy": text(outcome.remedy, 1024),
        "exit_code": outcome.exit_code,
        "text": text(outcome.text, 2048),
    }
