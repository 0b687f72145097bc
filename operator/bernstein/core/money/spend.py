"""What sessions, Tasks and Plans have cost so far: each session counts once, whatever is deleted.

A session's cost goes into its Task's status with the move that ends it, and from there into the
Plan's row of that Task. A session whose Task is deleted before that is settled by the Plan: its
cost and its uid go into the Plan's status with one write, and the uid stays there until the session
is gone.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable
from datetime import timedelta
from decimal import Decimal

from bernstein import agents
from bernstein.api.meta import UsageCounts
from bernstein.api.money import SpendSource
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import MAX_ROWS, MAX_SETTLED, PlanTask, Settled
from bernstein.api.project import CopiedPrice, Project
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.core.money.plausible import bounded
from bernstein.core.money.pricing import add, cost, money, price_of

_WITH_SESSION = (TaskState.CLAIMED, TaskState.IN_PROGRESS)


def usage_of(session: AgentSession) -> UsageCounts | None:
    """The session's tokens: as recorded once it has ended; before, as reported, as far as that is
    possible."""
    status = session.status
    if status.state is SessionState.DEAD or status.report is None:
        return status.usage
    if status.report.usage is None:
        return None
    return bounded(status.report.usage, _time_of_report(session), session.spec.model)


def _time_of_report(session: AgentSession) -> timedelta:
    """How long the session had run when it reported last, by the server's clock."""
    status = session.status
    heard = status.report.heartbeat_time if status.report is not None else None
    if heard is None or status.started_at is None:
        return timedelta(seconds=session.spec.timeout_seconds)
    return heard - status.started_at


def price(session: AgentSession, project: Project | None) -> CopiedPrice | None:
    """The price of the session's model when the session was made; None: nobody knows it.

    Where the session has none, because nobody knew it or an older release made it, that of now.
    """
    if session.spec.price is not None:
        return session.spec.price
    return price_of(session.spec.model, project.spec.budget.prices if project else ())


def cost_of(session: AgentSession, project: Project | None) -> Decimal:
    """US dollars of a session so far; 0 where its model has no price."""
    usage, model_price = usage_of(session), price(session, project)
    if usage is None or model_price is None:
        return Decimal(0)
    return cost(usage, model_price)


def source(
    session: AgentSession, project: Project | None, before: SpendSource | None
) -> SpendSource:
    """How a Task's spend is known, with this session; `before`: without it.

    What one session has not told stays unknown, and what had no price is not counted, whatever
    others tell afterwards: what hides more is said.
    """
    silent = usage_of(session) in (None, UsageCounts())
    silent = silent and not agents.tells_tokens(session.spec.adapter)
    if silent or before == "Unreported":
        return "Unreported"
    priced = price(session, project) is not None
    return "Reported" if priced and before != "Unpriced" else "Unpriced"


def settled_sessions(task: Task) -> int:
    """Number of the last session whose cost is in the Task's status."""
    return task.status.sessions - (1 if task.status.state in _WITH_SESSION else 0)


def belongs(session: AgentSession, plan: Plan) -> bool:
    """Whether the session works for a Task of the Plan."""
    return session.spec.plan_ref is not None and session.spec.plan_ref.uid == plan.metadata.uid


class _Counted:
    """Tells which sessions' cost is counted already.

    `rows` count all sessions of a Task up to a number, `uids` single ones.
    """

    def __init__(self, rows: Iterable[PlanTask], uids: Iterable[str]) -> None:
        self._numbers = {row.uid: row.sessions for row in rows}
        self._uids = frozenset(uids)

    def holds(self, session: AgentSession) -> bool:
        number = self._numbers.get(session.spec.task_ref.uid, 0)
        return session.spec.number <= number or session.metadata.uid in self._uids


def is_kept(session: AgentSession, status: PlanStatus) -> bool:
    """Whether the session's cost is in the Plan's status."""
    return _Counted(status.tasks, _settled(status).sessions).holds(session)


def settled_by(row: PlanTask | None, task: Task | None) -> Decimal:
    """US dollars that a Task says, and the row of its name where that is of another one."""
    amount = Decimal(task.status.spend_usd) if task is not None else Decimal(0)
    if row is None or (task is not None and row.uid in (None, task.metadata.uid)):
        return amount
    return amount + Decimal(row.spend_usd)


def in_room(
    rows: tuple[PlanTask, ...], settled: Settled | None, sessions: Collection[AgentSession]
) -> tuple[tuple[PlanTask, ...], Settled | None]:
    """As many rows as a status can have: what is of no step, which only an older release counted,
    is settled where they are more."""
    if len(rows) <= MAX_ROWS:
        return rows, settled
    kept: list[PlanTask] = []
    for row in rows:
        without = with_row(settled or Settled(), row, sessions) if row.step is None else None
        if without is None:
            kept.append(row)
        else:
            settled = without
    return tuple(kept), settled


def _settled(status: PlanStatus) -> Settled:
    return status.settled or Settled()


def without_gone(settled: Settled, existing: Container[str]) -> Settled:
    """Without the uids of sessions that are gone: those cannot be counted again."""
    here = tuple(uid for uid in settled.sessions if uid in existing)
    return settled if here == settled.sessions else settled.model_copy(update={"sessions": here})


def row_of(task: Task, before: PlanTask | None) -> PlanTask:
    """The row of the Task: the one that it has where that says so already, as most of thousands."""
    meta, spec, status = task.metadata, task.spec, task.status
    rounds, sessions = status.round and status.round.number, settled_sessions(task)
    stage, state = spec.stage or "-", status.state or TaskState.OPEN
    if (
        before is not None
        and (before.state, before.uid, before.stage) == (state, meta.uid, stage)
        and (before.attempts, before.sessions) == (status.attempt, sessions)
        and (before.spend_usd, before.rounds) == (status.spend_usd, rounds)
        and before.usage == status.usage
    ):
        return before
    counted = {
        "stage": stage,
        "uid": meta.uid,
        "state": state,
        "attempts": status.attempt,
        "sessions": sessions,
        "spend_usd": status.spend_usd,
        "usage": status.usage,
        "rounds": rounds,
    }
    return (before or PlanTask(name=meta.name, stage=stage)).model_copy(update=counted)


def with_row(settled: Settled, row: PlanTask, sessions: Iterable[AgentSession]) -> Settled | None:
    """`settled` with what a row counted whose Task was deleted and whose name another one took.

    `sessions`: of that Task, and of others. None: `settled` has no room yet for the uids of its
    sessions, so the row must stay.
    """
    ledger = _Counted((row,), ())
    uids = tuple(
        s.metadata.uid for s in sessions if s.spec.task_ref.uid == row.uid and ledger.holds(s)
    )
    if len(settled.sessions) + len(uids) > MAX_SETTLED:
        return None
    return _plus(settled, Decimal(row.spend_usd), row.usage, uids)


def left_over(
    sessions: Iterable[AgentSession], row: PlanTask | None, task: Task | None
) -> list[AgentSession]:
    """Those of one name of a Task that have ended, and that neither it nor its row will count: the
    Task is gone or being deleted."""
    ledger = _Counted(() if row is None else (row,), ())
    return [s for s in sessions if _is_left_over(s, task) and not ledger.holds(s)]


def _is_left_over(session: AgentSession, task: Task | None) -> bool:
    if session.status.state is not SessionState.DEAD:
        return False
    if task is None or task.metadata.uid != session.spec.task_ref.uid:
        return True
    return task.metadata.deletion_timestamp is not None


def with_sessions(
    settled: Settled, left: Iterable[AgentSession], project: Project | None
) -> Settled:
    """`settled` with sessions that nobody else counts; as many as it has room for."""
    room = MAX_SETTLED - len(settled.sessions)
    uncounted = (s for s in left if s.metadata.uid not in settled.sessions)
    for session in sorted(uncounted, key=lambda s: s.metadata.name)[:room]:
        usage = usage_of(session) or UsageCounts()
        spent = cost_of(session, project)
        settled = _plus(settled, spent, usage, (session.metadata.uid,))
    return settled


def _plus(settled: Settled, spent: Decimal, usage: UsageCounts, uids: tuple[str, ...]) -> Settled:
    return Settled(
        spend_usd=money(Decimal(settled.spend_usd) + spent),
        usage=add(settled.usage, usage),
        sessions=(*settled.sessions, *uids),
    )
