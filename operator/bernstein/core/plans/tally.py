"""A Plan's tally of its Tasks: counts, stage, spend and what they landed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from decimal import Decimal
from typing import Literal

from bernstein.api.plan import Counts, PlanStatus, PlanTask, Settled
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.delivery import ledger
from bernstein.core.delivery.ledger import Ledger
from bernstein.core.fsm import ACTIVE, VERIFYING, is_final
from bernstein.core.money import spend
from bernstein.core.money.pricing import money, total
from bernstein.core.plans.rows import placed
from bernstein.core.snapshot import PlanSnapshot


def tally(snapshot: PlanSnapshot) -> PlanStatus:
    """The status brought up to date, from the Tasks and from the rows of deleted ones."""
    status = snapshot.plan.status
    rows, settled = spend.tally(status, snapshot.tasks, snapshot.sessions, snapshot.project)
    rows = placed(snapshot.plan, rows, snapshot.tasks.values())
    rows, settled = spend.in_room(rows, settled, snapshot.sessions)
    integration = status.integration
    if integration is not None:
        book = ledger.read(status, snapshot.owned)
        rows = _booked(rows, book)
        if book.tip != integration.tip:
            integration = integration.model_copy(update={"sha": book.tip, "tree": book.tree})
    without_row = settled or Settled()
    costs = (row.spend_usd for row in rows if row.spend_usd != "0")
    spent = sum(map(Decimal, costs), Decimal(without_row.spend_usd))
    open_stages = {r.stage for r in rows if r.state != TaskState.CLOSED}
    stages = (stage.name for stage in snapshot.plan.spec.stages)
    return status.model_copy(
        update={
            "tasks": rows,
            "counts": _counts(snapshot, rows),
            "current_stage": next((s for s in stages if s in open_stages), None),
            "usage": total((without_row.usage, *(row.usage for row in rows))),
            "integration": integration,
            "spend_usd": money(spent),
            "spend_source": _missing(status, snapshot.tasks.values()),
            "settled": settled,
        }
    )


def _missing(status: PlanStatus, tasks: Iterable[Task]) -> Literal["Unpriced", "Unreported"] | None:
    """Why the spend is not all of it; of a Task that is gone it stays."""
    sources = {status.spend_source, *(task.status.spend_source for task in tasks)}
    if "Unreported" in sources:
        return "Unreported"
    return "Unpriced" if "Unpriced" in sources else None


def _booked(rows: Iterable[PlanTask], book: Ledger) -> tuple[PlanTask, ...]:
    """The rows with what their Tasks have landed."""
    return tuple(
        row.model_copy(update={"landed": book.landed[row.name]})
        if row.landed is None and row.name in book.landed
        else row
        for row in rows
    )


def _counts(snapshot: PlanSnapshot, rows: tuple[PlanTask, ...]) -> Counts:
    states = Counter(_states(snapshot, rows))

    def number(wanted: Collection[TaskState]) -> int:
        return sum(states[state] for state in wanted)

    failed = sum(failed_for_good(t) for t in snapshot.tasks.values())
    counts = Counts(
        total=len(rows),
        running=number(ACTIVE),
        verifying=number(VERIFYING),
        closed=number({TaskState.CLOSED}),
        failed=failed,
        cancelled=number({TaskState.CANCELLED}),
    )
    begun = counts.running + counts.verifying + counts.closed + counts.failed + counts.cancelled
    return counts.model_copy(update={"open": counts.total - begun})


def _states(snapshot: PlanSnapshot, rows: tuple[PlanTask, ...]) -> list[str]:
    """The state of every row. A Task that was deleted has ended as if it was cancelled, unless it
    was Closed: its row keeps the state that it was in, which nothing will move on."""
    uids = {task.metadata.uid for task in snapshot.tasks.values()}
    return [
        row.state
        if row.uid is None or row.uid in uids or row.state == TaskState.CLOSED
        else TaskState.CANCELLED
        for row in rows
    ]


def failed_for_good(task: Task) -> bool:
    """Whether it is Failed with no retry left."""
    return task.status.state is TaskState.FAILED and is_final(task.status, task.spec.max_retries)
