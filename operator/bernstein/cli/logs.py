"""`bernstein logs`"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import CheckResult, Task
from bernstein.cli import check_log, details, pod_log
from bernstein.cli.check_log import CheckLog, CheckLogs, Whose
from bernstein.cli.cluster import PLANS, SESSIONS, TASKS, Cluster, connected
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.follow import is_over
from bernstein.cli.pod_log import AGENT, Entry, PodLog
from bernstein.cli.settings import Settings
from bernstein.cli.terminal import Terminal, run_command
from bernstein.core.fsm import is_final
from bernstein.core.records import Record, plan_record, task_record
from bernstein.core.sanitise import line, text

_LONGEST_LOG = 4 * 1024 * 1024
_LONGEST_OUTCOME = 4096
_INTERVAL = 2.0


@dataclass(frozen=True)
class _Subject:
    """A Task with all its sessions, one session, or a Plan."""

    task: Task | None
    sessions: tuple[AgentSession, ...]
    plan: Plan | None = None

    @property
    def whose(self) -> Whose:
        """The checks that it is about."""
        if self.plan is not None:
            return check_log.of_plan(self.plan)
        if self.task is not None:
            return check_log.of_task(self.task)
        return check_log.of_session(self.sessions[0])

    @property
    def verdicts(self) -> tuple[CheckResult, ...]:
        """The last ones of a Task or a Plan."""
        subject = self.task or self.plan
        judged = subject.status.verification if subject is not None else None
        return judged.checks if judged is not None else ()

    @property
    def ended(self) -> bool:
        if self.plan is not None:
            return is_over(self.plan)
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
    """What a Task's sessions logged and how they ended, and what failed checks printed."""
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
        if not subject.sessions and subject.plan is None:
            terminal.say("It has had no session yet.")
        teller = _Teller(terminal, cluster, follow=follow)
        await teller.tell(subject)
        while follow and not subject.ended:
            await asyncio.sleep(_INTERVAL)
            subject = await _find(cluster, name)
            await teller.tell(subject)
        if subject.task is not None:
            details.tell_task(terminal, subject.task)
        if subject.plan is not None:
            details.tell_plan(terminal, subject.plan)


async def _find(cluster: Cluster, name: str) -> _Subject:
    """A Task, a session or a Plan of that name, in this order; `plan/NAME` is a Plan."""
    bare = name.removeprefix("plan/")
    if bare == name:
        task = await cluster.find_task(name)
        if task is not None:
            return _Subject(task, tuple(await cluster.sessions(name)))
        session = await cluster.find_session(name)
        if session is not None:
            return _Subject(None, (session,))
    plan = await cluster.find_plan(bare)
    if plan is None:
        raise await cluster.not_found(bare, *((TASKS, SESSIONS) if bare == name else ()), PLANS)
    return _Subject(None, (), plan)


class _Teller:
    """Tells each thing once, however often it is asked."""

    def __init__(self, terminal: Terminal, cluster: Cluster, *, follow: bool) -> None:
        self._terminal = terminal
        self._cluster = cluster
        self._follow = follow
        self._shown: dict[str, _Shown] = {}
        self._looked: tuple[int, tuple[CheckResult, ...]] | None = None
        """Sessions and verdicts when what checks printed was looked for."""
        self._checks: set[str] = set()
        """Jobs whose checks' output is on the terminal already."""

    async def tell(self, subject: _Subject) -> None:
        """What is new of every session and of the checks of its work, the first one first."""
        found = await self._check_logs(subject)
        for session in subject.sessions:
            name = session.metadata.name
            shown = self._shown.setdefault(name, _Shown())
            if not shown.ended:
                await self._tell_session(session, shown)
            self._tell_checks(log for log in found.found if log.job.startswith(f"{name}-"))
        self._tell_checks(found.found)
        if found.missing:
            self._terminal.say(found.missing, "dim")

    async def _check_logs(self, subject: _Subject) -> CheckLogs:
        """Read only when there is something new: a report is large."""
        seen = (len(subject.sessions), subject.verdicts)
        if seen == self._looked:
            return CheckLogs()
        self._looked = seen
        return await check_log.read(self._cluster, subject.whose, running=not self._follow)

    def _tell_checks(self, logs: Iterable[CheckLog]) -> None:
        for log in logs:
            if log.job in self._checks:
                continue
            self._checks.add(log.job)
            self._terminal.say(f"── {log.job} · check {log.check} ──", "bold")
            if log.note:
                self._terminal.say(log.note, "dim")
            for row in text(log.written, _LONGEST_LOG).splitlines():
                self._terminal.say(f"  {row}")

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
    found = await check_log.read(cluster, subject.whose)
    return {
        "task": task_record(subject.task) if subject.task else None,
        "plan": plan_record(subject.plan) if subject.plan else None,
        "sessions": [await _session_record(cluster, session) for session in subject.sessions],
        "checks": [_check_record(log) for log in found.found],
        "checks_missing": found.missing or None,
    }


def _check_record(log: CheckLog) -> Record:
    return {
        "check": log.check,
        "job": log.job,
        "log": text(log.written, _LONGEST_LOG),
        "note": log.note or None,
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
