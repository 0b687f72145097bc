"""The Task, session or Plan that a call of `bernstein logs` names."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.api.task import Task
from bernstein.api.verification import CheckResult, Verification
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import check_log
from bernstein.cli.commands.logs.check_log import Whose
from bernstein.cli.output import notes
from bernstein.core.fsm import is_final
from bernstein.core.plans.standstill import is_at_rest
from bernstein.resources import PLANS, SESSIONS, TASKS


@dataclass(frozen=True)
class LogSubject:
    """A Task with all its sessions, one session, or a Plan."""

    task: Task | None
    sessions: tuple[AgentSession, ...]
    plan: Plan | None = None

    @property
    def whose(self) -> Whose:
        """Whose checks are shown."""
        if self.plan is not None:
            return check_log.of_plan(self.plan)
        if self.task is not None:
            return check_log.of_task(self.task)
        return check_log.of_session(self.sessions[0])

    @property
    def verdicts(self) -> tuple[CheckResult, ...]:
        """The newest verdicts on a Task or a Plan; none for a session."""
        return tuple(check for _, judged in self._judged for check in judged.checks)

    @property
    def score(self) -> str:
        """What is told of the quality score of a Task's or a Plan's work; "" without one."""
        told = ((where, notes.score(judged)) for where, judged in self._judged)
        return "; ".join(f"{where}: {score}" if where else score for where, score in told if score)

    @property
    def _judged(self) -> list[tuple[str, Verification]]:
        subject = self.task or self.plan
        return notes.judged(subject) if subject is not None else []

    @property
    def ended(self) -> bool:
        if self.plan is not None:
            return is_at_rest(self.plan)
        if self.task is not None:
            return is_final(self.task.status, self.task.spec.max_retries)
        return all(s.status.state is SessionState.DEAD for s in self.sessions)


async def find(cluster: Cluster, name: str) -> LogSubject:
    """The Task of that name, else the session, else the Plan; `plan/NAME` is a Plan.

    Raises CliError where there is none.
    """
    bare = name.removeprefix("plan/")
    if bare == name:
        task = await cluster.find_task(name)
        if task is not None:
            return LogSubject(task, tuple(await cluster.sessions(name)))
        session = await cluster.find_session(name)
        if session is not None:
            return LogSubject(None, (session,))
    plan = await cluster.find_plan(bare)
    if plan is None:
        raise await cluster.not_found(bare, *((TASKS, SESSIONS) if bare == name else ()), PLANS)
    return LogSubject(None, (), plan)
