"""What sessions, Tasks and Plans have cost so far: each session counts once, whatever is deleted.

A session's cost goes into its Task's status with the move that ends it, and from there into the
Plan's row of that Task. A session whose Task was deleted before is settled by the Plan: its cost
and its uid go into the Plan's status with one write, and the uid stays until the session is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal

from bernstein.api.meta import UsageCounts
from bernstein.api.plan import MAX_SETTLED, Plan, PlanStatus, PlanTask, Settled
from bernstein.api.project import Price, Project
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.core.pricing import add, cost, money, price_of

_WITH_SESSION = (TaskState.CLAIMED, TaskState.IN_PROGRESS)


def usage_of(session: AgentSession) -> UsageCounts | None:
    """Its tokens: as recorded at its end, and as reported until then."""
    status = session.status
    if status.state is SessionState.DEAD or status.report is None:
        return status.usage
    return status.report.usage


def price(session: AgentSession, project: Project | None) -> Price | None:
    """Of the session's model."""
    return price_of(session.spec.model, project.spec.budget.prices if project else ())


def cost_of(session: AgentSession, project: Project | None) -> Decimal:
    """US dollars of a session so far; nothing where its model has no price."""
    usage, found = usage_of(session), price(session, project)
    return cost(usage, found) if usage is not None and found is not None else Decimal(0)


def settled_sessions(task: Task) -> int:
    """Number of the last session whose cost is in the Task's status."""
    return task.status.sessions - (1 if task.status.state in _WITH_SESSION else 0)


def belongs(session: AgentSession, plan: Plan) -> bool:
    return session.spec.plan_ref is not None and session.spec.plan_ref.uid == plan.metadata.uid


class _Ledger:
    """Which sessions are in a Plan's status, or in that of a Task which is there."""

    def __init__(
        self, rows: Iterable[PlanTask], uids: Iterable[str], tasks: Iterable[Task] = ()
    ) -> None:
        self._numbers = {row.uid: row.sessions for row in rows}
        self._numbers |= {task.metadata.uid: settled_sessions(task) for task in tasks}
        self._uids = frozenset(uids)

    def holds(self, session: AgentSession) -> bool:
        number = self._numbers.get(session.spec.task_ref.uid, 0)
        return session.spec.number <= number or session.metadata.uid in self._uids


def is_kept(session: AgentSession, status: PlanStatus) -> bool:
    """Whether the session's cost is in the Plan's status."""
    return _Ledger(status.tasks, _settled(status).sessions).holds(session)


def plan_spend(
    status: PlanStatus,
    tasks: Mapping[str, Task],
    sessions: Iterable[AgentSession],
    project: Project | None,
) -> Decimal:
    """US dollars of a Plan so far, with what its sessions at work have reported.

    `tasks`: its own, by name; `sessions`: all that belong to it.
    """
    found = _settled(status)
    ledger = _Ledger(status.tasks, found.sessions, tasks.values())
    total = Decimal(found.spend_usd)
    total += sum(Decimal(task.status.spend_usd) for task in tasks.values())
    total += sum(Decimal(row.spend_usd) for row in status.tasks if not _is_row_of(row, tasks))
    return total + sum(cost_of(s, project) for s in sessions if not ledger.holds(s))


def tally(
    status: PlanStatus,
    tasks: Mapping[str, Task],
    sessions: Collection[AgentSession],
    project: Project | None,
) -> tuple[tuple[PlanTask, ...], Settled | None]:
    """The Plan's row of each Task, also of deleted ones, and what is in none of them."""
    rows = {row.name: row for row in status.tasks}
    there = {session.metadata.uid for session in sessions}
    found = _settled(status)
    found = found.model_copy(
        update={"sessions": tuple(uid for uid in found.sessions if uid in there)}
    )
    for name, task in tasks.items():
        if name in rows and not _is_row_of(rows[name], tasks):
            kept = _with_row(found, rows[name], sessions)
            if kept is None:
                continue
            found = kept
        rows[name] = _row(task)
    ledger = _Ledger(rows.values(), found.sessions)
    late = [s for s in sessions if _is_left_over(s, tasks) and not ledger.holds(s)]
    late = sorted(late, key=lambda s: s.metadata.name)[: MAX_SETTLED - len(found.sessions)]
    for session in late:
        found = _with_session(found, session, project)
    return tuple(rows.values()), found if found != Settled() else None


def _settled(status: PlanStatus) -> Settled:
    return status.settled or Settled()


def _is_row_of(row: PlanTask, tasks: Mapping[str, Task]) -> bool:
    """Whether it tells of the Task that is there now."""
    return row.name in tasks and row.uid in (None, tasks[row.name].metadata.uid)


def _row(task: Task) -> PlanTask:
    return PlanTask(
        name=task.metadata.name,
        stage=task.spec.stage or "-",
        uid=task.metadata.uid,
        state=task.status.state or TaskState.OPEN,
        attempts=task.status.attempt,
        sessions=settled_sessions(task),
        spend_usd=task.status.spend_usd,
        usage=task.status.usage,
    )


def _with_row(settled: Settled, row: PlanTask, sessions: Iterable[AgentSession]) -> Settled | None:
    """With what a Task had cost whose name another one has now; None: there is no room yet."""
    held = _Ledger((row,), ())
    uids = tuple(
        s.metadata.uid for s in sessions if s.spec.task_ref.uid == row.uid and held.holds(s)
    )
    if len(settled.sessions) + len(uids) > MAX_SETTLED:
        return None
    return _plus(settled, Decimal(row.spend_usd), row.usage, uids)


def _is_left_over(session: AgentSession, tasks: Mapping[str, Task]) -> bool:
    """It has ended, and its Task will never settle it."""
    if session.status.state is not SessionState.DEAD:
        return False
    task = tasks.get(session.spec.task_ref.name)
    if task is None or task.metadata.uid != session.spec.task_ref.uid:
        return True
    return task.metadata.deletion_timestamp is not None


def _with_session(settled: Settled, session: AgentSession, project: Project | None) -> Settled:
    usage = usage_of(session) or UsageCounts()
    return _plus(settled, cost_of(session, project), usage, (session.metadata.uid,))


def _plus(settled: Settled, spent: Decimal, usage: UsageCounts, uids: tuple[str, ...]) -> Settled:
    return Settled(
        spend_usd=money(Decimal(settled.spend_usd) + spent),
        usage=add(settled.usage, usage),
        sessions=(*settled.sessions, *uids),
    )
