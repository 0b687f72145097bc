"""What a Plan has spent, reckoned anew of all objects: each session counts once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import Settled
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.task import Task
from bernstein.core.money import spend


def reckoned(
    status: PlanStatus,
    tasks: Mapping[str, Task],
    sessions: Iterable[AgentSession],
    project: Project | None,
) -> Decimal:
    """US dollars so far; `tasks`: the Plan's, by name; `sessions`: all that belong to it."""
    own = status.settled or Settled()
    numbers = {row.uid: row.sessions for row in status.tasks}
    numbers |= {task.metadata.uid: spend.settled_sessions(task) for task in tasks.values()}
    total = Decimal(own.spend_usd)
    total += sum(Decimal(task.status.spend_usd) for task in tasks.values())
    for row in status.tasks:
        task = tasks.get(row.name)
        if task is None or row.uid not in (None, task.metadata.uid):
            total += Decimal(row.spend_usd)
    for session in sessions:
        is_settled = session.spec.number <= numbers.get(session.spec.task_ref.uid, 0)
        if not is_settled and session.metadata.uid not in own.sessions:
            total += spend.cost_of(session, project)
    return total
