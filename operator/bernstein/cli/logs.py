"""`bernstein logs`"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.cli import details
from bernstein.cli.cluster import SESSIONS, TASKS, Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_command
from bernstein.core.fsm import is_final
from bernstein.core.records import Record, task_record
from bernstein.core.sanitise import text
from bernstein.kube.errors import ApiError, Forbidden, NotFound

CONTAINERS = ("agent", "recorder")
"""The agent writes to files in its pod; the recorder reads them and logs in lines."""

_LIMIT = 4 * 1024 * 1024
_LONGEST_LINE = 2000
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
    """What is on the terminal already."""

    characters: dict[tuple[str, str], int] = field(default_factory=dict)
    titles: set[tuple[str, str]] = field(default_factory=set)
    outcomes: set[str] = field(default_factory=set)


def logs(settings: Settings, name: str, *, follow: bool) -> None:
    """What the containers of a Task's sessions wrote, and how the sessions ended."""
    terminal = Terminal(settings)
    run_command(terminal, _logs(terminal, settings, name, follow))


async def _logs(terminal: Terminal, settings: Settings, name: str, follow: bool) -> None:
    if follow and settings.json:
        raise CliError("Usage", "--follow and --json exclude each other", code=INVALID)
    async with connected(settings) as cluster:
        subject = await _find(cluster, name)
        if settings.json:
            terminal.answer(await _record(cluster, subject))
            return
        shown = _Shown()
        await _tell_sessions(terminal, cluster, subject, shown)
        while follow and not subject.ended:
            await asyncio.sleep(_INTERVAL)
            subject = await _find(cluster, name)
            await _tell_sessions(terminal, cluster, subject, shown)
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


async def _tell_sessions(
    terminal: Terminal, cluster: Cluster, subject: _Subject, shown: _Shown
) -> None:
    if not subject.sessions and not shown.titles:
        shown.titles.add(("", ""))
        terminal.say("It has had no session yet.")
    for session in subject.sessions:
        await _tell_session(terminal, cluster, session, shown)


async def _tell_session(
    terminal: Terminal, cluster: Cluster, session: AgentSession, shown: _Shown
) -> None:
    name = session.metadata.name
    if name in shown.outcomes:
        return
    for container in CONTAINERS:
        written = await _container_log(cluster, session, container)
        place = (name, container)
        before = shown.characters.get(place, 0)
        # While a session runs, the last line may still be growing.
        whole = written[: written.rfind("\n") + 1] or written
        fresh = (written if session.status.state is SessionState.DEAD else whole)[before:]
        if not fresh:
            continue
        if place not in shown.titles:
            shown.titles.add(place)
            terminal.say(f"── {name} · {container} ──", "bold")
        shown.characters[place] = before + len(fresh)
        for row in fresh.splitlines():
            terminal.say(text(row, _LONGEST_LINE))
    outcome = session.status.outcome
    if outcome is not None:
        shown.outcomes.add(name)
        exit_code = "" if outcome.exit_code is None else f", exit code {outcome.exit_code}"
        terminal.say(f"── {name} ended: {outcome.reason}{exit_code} ──", "bold")
        for words in (outcome.message, outcome.remedy, outcome.text):
            for row in text(words, 4096).splitlines():
                terminal.say(f"  {row}")


async def _container_log(cluster: Cluster, session: AgentSession, container: str) -> str:
    """Empty while the container has not started and after its pod is gone."""
    pod = session.status.pod
    if pod is None:
        return ""
    try:
        written = await cluster.client.logs(
            cluster.namespace, pod.name, container=container, limit_bytes=_LIMIT
        )
    except NotFound:
        return ""
    except Forbidden:
        raise
    except ApiError as error:
        if error.status == 400:  # waiting to start
            return ""
        raise
    return written.decode(errors="replace")


async def _record(cluster: Cluster, subject: _Subject) -> Record:
    return {
        "task": task_record(subject.task) if subject.task else None,
        "sessions": [
            {
                "session": session.metadata.name,
                "attempt": session.spec.attempt,
                "state": (session.status.state or "Starting").lower(),
                "pod": session.status.pod.name if session.status.pod else None,
                "outcome": _outcome(session),
                "logs": {
                    container: text(await _container_log(cluster, session, container), _LIMIT)
                    for container in CONTAINERS
                },
            }
            for session in subject.sessions
        ],
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
