"""Whether a Plan still moves, and what has stopped it where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.core.delivery import kept
from bernstein.core.fsm import ACTIVE, VERIFYING, is_final
from bernstein.core.money import budget
from bernstein.core.plans.member import failed_for_good, only_waits, order
from bernstein.core.plans.nodes import phases, standing
from bernstein.core.plans.tally import tallied, tally
from bernstein.core.projects import repositories
from bernstein.core.sanitise import count, some
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.waiting import RESTS, goes_on, is_stalled, parted, stands_still, waits

_MORE_RUNS = (
    "Read what its last run was rejected for, then apply the workflow with more runs "
    "(max_attempts) under another name. {again} has what failed run once more, without a repair."
)
_ENDS = (Reason.TASK_FAILED, Reason.RETRY_EXHAUSTED)
"""Why a Plan has failed, once nothing of it can go on."""


def is_at_rest(plan: Plan, tasks: Iterable[Task] = ()) -> bool:
    """Whether it has ended, or stands still, as it is now, and no agent of it is at work.

    What is being verified needs a person, too, in a Plan that is Stalled; and so does the session
    of a Task that is Stalled: it only tries whether that is mended.
    """
    status = plan.status
    if status.ended_at is not None:
        return True
    seen = status.observed_generation >= plan.metadata.generation
    tries = sum(task.status.state in ACTIVE and is_stalled(task.status) for task in tasks)
    return seen and stands_still(status) and status.counts.running <= tries


def stopped(snapshot: PlanSnapshot) -> PlanStatus:
    """The status of a Plan that cannot do its next step, before it says why. A Task that nobody has
    seen before stays unseen: it may not be the one that was to be made."""
    status, before = tally(snapshot), snapshot.plan.status.tasks
    update: dict[str, object] = {"phase": "Stalled"}
    if snapshot.plan.spec.workflow is not None:
        rows = zip(before, status.tasks, strict=True)
        update["tasks"] = tuple(was if was.uid is None else row for was, row in rows)
    return status.model_copy(update=update)


def rest(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a suspended Plan, which is at work until what had begun has ended.

    What it has tried itself stays known, and is tried again once it is resumed.
    """
    at_work = ACTIVE | VERIFYING
    if any(t.status.state in at_work and not is_stalled(t.status) for t in snapshot.tasks.values()):
        return waits(status, WaitReason.SUSPENDED, "what had begun goes on to its end", now)
    return waits(status, WaitReason.SUSPENDED, RESTS, now)


def watch(snapshot: PlanSnapshot, status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a Plan that is at work: Running, or what stops it and Stalled, or Failed.

    It is Failed at its end alone: until then something may let it go on.
    """
    tally = tallied(snapshot)
    moves = tally.moving or standing.begins(status)
    paid = not moves and any(_has_money_again(t, snapshot, status) for t in _poor(snapshot))
    cause = None if moves or paid else _what_stops(snapshot, status)
    if cause is not None:
        reason, text, remedy, until = cause
        over = reason in _ENDS and _is_over(snapshot, status)
        update = {"phase": "Failed" if over else "Stalled", "ended_at": now if over else None}
        stalled = goes_on(status).model_copy(update=update)
        stopped = waits(stalled, reason, text, now, needs_person=True, remedy=remedy)
        return _until(stopped, until)
    running = goes_on(status).model_copy(update={"phase": "Running"})
    if not moves and not paid:
        running = phases.waits_for_people(snapshot, running, now)
    if paid or tally.waiting < tally.moving or running.waiting is not None:
        return running
    return _waits_like(tally.first or _first_of_all(snapshot), running, now)


def _poor(snapshot: PlanSnapshot) -> Iterator[Task]:
    """The Tasks that need a person to give them money."""
    for task in snapshot.tasks.values():
        waiting = task.status.waiting
        if (
            waiting is not None
            and waiting.needs_person
            and waiting.reason == Reason.BUDGET_EXCEEDED
        ):
            yield task


def _has_money_again(task: Task, snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """Whether its Plan may spend more by now, so that it goes on once it looks again: whoever has
    raised the budget is not told that it stands still for it.

    Where one question alone was too dear, only the Task itself can tell what it costs.
    """
    plan = snapshot.plan.model_copy(update={"status": status})
    if task.status.state is not TaskState.DONE:
        return not budget.is_spent(plan, Decimal(status.spend_usd))
    its = repositories.place_of_task(task, plan, snapshot.project)
    of_task = TaskSnapshot(task=task, project=its.project, plan=plan)
    judged = task.status.verification
    was_too_dear = judged is not None and judged.too_little_usd is not None
    if was_too_dear and budget.left_for_models(of_task) is not None:
        return False
    return not budget.spent_on_work(of_task)


def _is_over(snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """Whether nothing that a person might mend lets another Task of the Plan go on.

    A Task that nobody has seen yet may still come. One whose row knows its uid was in a cache, and
    no cache goes back behind what was read by the one that led before: it was deleted, and is not
    made again.
    """

    def is_over(task: Task) -> bool:
        waiting = task.status.waiting
        never_starts = waiting is not None and waiting.reason == Reason.DEPENDENCY_FAILED
        return never_starts or is_final(task.status, task.spec.max_retries)

    gone = all(row.uid is not None for row in _missing(snapshot, status))
    return gone and all(map(is_over, snapshot.tasks.values()))


def _missing(snapshot: PlanSnapshot, status: PlanStatus | None = None) -> list[PlanTask]:
    """Rows of Tasks that are not there, and whose work is not done; of a workflow those alone for
    which it has failed. What becomes of subtasks says the Task that is split."""
    status = status or snapshot.plan.status
    its = standing.matters(snapshot.plan, status)
    rows = (row for row in snapshot.plan.status.tasks if row.parent is None)
    rows = (row for row in rows if row.name not in snapshot.tasks)
    rows = (row for row in rows if its is None or row.name in its)
    return [row for row in rows if row.state != TaskState.CLOSED]


def deleted(snapshot: PlanSnapshot) -> str:
    """Which of its Tasks were deleted before they were Closed; "": none that had been seen."""
    return _gone([row for row in _missing(snapshot) if row.uid is not None])


def _gone(rows: Sequence[PlanTask]) -> str:
    """That they were deleted, without a full stop."""
    if not rows:
        return ""
    if len(rows) == 1:
        return f"Task '{rows[0].name}' was deleted, and is not made again"
    which = some((f"'{row.name}'" for row in rows), len(rows))
    return f"{count(len(rows), 'Task')} were deleted, and are not made again: {which}"


def _first_of_all(snapshot: PlanSnapshot) -> Task | None:
    """The first that only waits, of a Plan in which nothing moves and nothing stops it."""
    return min(filter(only_waits, snapshot.tasks.values()), key=order, default=None)


def _waits_like(task: Task | None, status: PlanStatus, now: datetime) -> PlanStatus:
    """Nothing of the Plan is at work: it waits for what its Tasks wait for."""
    waiting = task.status.waiting if task is not None else None
    if task is None or waiting is None:
        return status
    text, _ = parted(waiting.message)
    told = waits(status, waiting.reason, f"Task '{task.metadata.name}': {text}", now)
    return _until(told, waiting.until)


def blocked_by(unfinished: Iterable[Task], status: PlanStatus, now: datetime) -> PlanStatus:
    """The status of a Plan that is cancelled, or delivered without these Tasks, with what keeps one
    of them from its end.

    What these Tasks waited for before they were told is over with them.
    """
    told = (t for t in unfinished if t.spec.cancel is not None and is_stalled(t.status))
    knows = (t for t in told if t.status.observed_generation == t.metadata.generation)
    task = min(knows, key=order, default=None)
    waiting = task.status.waiting if task is not None else None
    if task is None or waiting is None:
        return status
    text, remedy = parted(waiting.message)
    text = f"Task '{task.metadata.name}': {text}"
    stopped = waits(status, waiting.reason, text, now, needs_person=True, remedy=remedy or "")
    return _until(stopped, waiting.until)


def _until(status: PlanStatus, moment: datetime | None) -> PlanStatus:
    """The status with the time at which what its Task waits for is tried again."""
    assert status.waiting is not None
    return status.model_copy(
        update={"waiting": status.waiting.model_copy(update={"until": moment})}
    )


def _what_stops(
    snapshot: PlanSnapshot, status: PlanStatus
) -> tuple[str, str, str | None, datetime | None] | None:
    """(reason, message, remedy, when it is tried again): why nothing moves.

    None: Tasks only have to look again.
    """
    tasks = list(snapshot.tasks.values())
    ended = _ended(snapshot, status)
    if ended is not None:
        return *ended, _remedy(snapshot, status, ended[0]), None
    past = standing.of_the_past(status)
    for task in tasks:
        if task.metadata.name in past:
            continue
        stall = task.status.waiting if is_stalled(task.status) else None
        if stall is not None and stall.reason != Reason.DEPENDENCY_FAILED:
            text, remedy = parted(stall.message)
            return stall.reason, f"Task '{task.metadata.name}': {text}", remedy or "", stall.until
    return None


def _ended(snapshot: PlanSnapshot, status: PlanStatus) -> tuple[str, str] | None:
    """(reason, message) of what has come to no good end; None: nothing has, or a workflow goes on
    without it."""
    said, reason = [], Reason.TASK_FAILED
    if status.workflow is not None:
        stopped = standing.stopped(snapshot.plan, status)
        if stopped is None:
            return None
        reason, text = stopped
        said.append(text)
    else:
        parts = {row.name for row in status.extra if row.parent is not None}
        tasks = (t for name, t in snapshot.tasks.items() if name not in parts)
        failed = [t for t in tasks if failed_for_good(t) or t.status.state is TaskState.CANCELLED]
        if failed:
            which = ", ".join(f"'{t.metadata.name}' ({_reason(t)})" for t in failed[:5])
            said.append(f"{count(len(failed), 'Task')} ended without result: {which}.")
    if gone := _gone(_missing(snapshot, status)):
        said.append(f"{gone}.")
    return (reason, " ".join(said)) if said else None


def _remedy(snapshot: PlanSnapshot, status: PlanStatus, reason: str) -> str:
    """What helps, and how to have what has landed: it was paid for."""
    helps = "Apply a Plan with what is left, under another name."
    if any(_may_go_on(t, snapshot, status) for t in snapshot.tasks.values()):
        again = f"`bernstein retry {snapshot.plan.metadata.name}`"
        helps = f"Read the failed Tasks' messages, then give them another round: {again}."
        if reason == Reason.RETRY_EXHAUSTED:
            helps = _MORE_RUNS.format(again=again)
        if _missing(snapshot, status):
            helps += " What was deleted can be applied as a Plan of another name."
    landed = "; ".join(kept.of_plan(snapshot.plan, status, snapshot.project))
    if not landed:
        return helps
    if status.repositories:
        return f"{helps} What has landed: {landed}"
    deliver = f"`bernstein deliver {snapshot.plan.metadata.name} --partial`"
    return f"{helps} Or have what has landed delivered: {deliver}. What has landed: {landed}"


def _may_go_on(task: Task, snapshot: PlanSnapshot, status: PlanStatus) -> bool:
    """Whether another round of it would let the Plan go on."""
    its = standing.may_retry(snapshot.plan, status, task.metadata.name)
    return failed_for_good(task) and its


def _reason(task: Task) -> str:
    return task.status.history[-1].reason if task.status.history else str(task.status.state)
