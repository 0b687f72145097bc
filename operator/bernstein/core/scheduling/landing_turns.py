"""Which Task may land next in each ref: it has the turn.

A Task that is verified asks for the turn: it waits for `MergeQueue`. The schedule gives the turn of
a ref to one Task at a time (step `Next`), and only then that Task begins to land. The turn stands
in the status of the Task alone: another replica that takes over reads it there, and one write takes
it back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core.delivery.landing import is_queued, step_of, without_turn
from bernstein.core.delivery.ledger import LONG_AGO
from bernstein.core.scheduling.occupancy import is_ending
from bernstein.core.waiting import goes_on, is_stalled, is_trying, waits


def lands(task: Task) -> bool:
    """Whether it lands or asks for its turn to, wherever that is."""
    status = task.status
    on_its_way = step_of(status) is not None or is_queued(status)
    return status.state is TaskState.DONE and status.delivery is not None and on_its_way


def turns(
    tasks: Iterable[Task], now: datetime, repository: Callable[[Task], str]
) -> list[tuple[Task, TaskStatus]]:
    """The statuses of all that are to land: who gets the turn, who loses it, who lands after whom.

    `repository`: the name of that which a Task works in; each has refs of its own. Those with the
    turn come first. Some of the statuses are as they were.
    """
    by_ref: defaultdict[tuple[str, str | None], list[Task]] = defaultdict(list)
    for task in tasks:
        delivery = task.status.delivery
        if lands(task) and delivery is not None:
            by_ref[repository(task), delivery.onto].append(task)
    decided = [each for rivals in by_ref.values() for each in _turn(rivals, now)]
    return sorted(decided, key=lambda each: step_of(each[1]) != "Next")


def _turn(tasks: list[Task], now: datetime) -> Iterable[tuple[Task, TaskStatus]]:
    """The statuses of those that land in the same ref."""
    lost = [t for t in tasks if step_of(t.status) == "Next" and _waits(t.status)]
    for task in lost:
        yield task, without_turn(task.status)
    moving = [t for t in tasks if t not in lost and not _stands(t.status)]
    before = next((t for t in moving if step_of(t.status) is not None), None)
    for task in sorted((t for t in moving if _asks(t)), key=_order):
        if before is not None:
            yield task, _behind(task.status, before, now)
        elif not lost:
            # Else once it is seen that the turn was taken back.
            yield task, _next(task.status)
        before = task


def _asks(task: Task) -> bool:
    return step_of(task.status) is None and is_queued(task.status) and not is_ending(task)


def _waits(status: TaskStatus) -> bool:
    """It asks for its turn anew once it may go on."""
    return status.waiting is not None and not is_trying(status)


def _stands(status: TaskStatus) -> bool:
    return is_stalled(status) and not is_trying(status)


def _order(task: Task) -> tuple[int, datetime, str]:
    return (task.spec.priority, task.metadata.creation_timestamp or LONG_AGO, task.metadata.name)


def _next(status: TaskStatus) -> TaskStatus:
    assert status.delivery is not None
    delivery = status.delivery.model_copy(update={"step": "Next"})
    status = status.model_copy(update={"delivery": delivery})
    return status if is_trying(status) else goes_on(status)


def _says(status: TaskStatus, text: str) -> bool:
    """Whether it waits for its turn, in these words."""
    waiting = status.waiting
    if waiting is None or waiting.reason != WaitReason.MERGE_QUEUE or waiting.message != text:
        return False
    return waiting.until is None and not waiting.needs_person


def _behind(status: TaskStatus, before: Task, now: datetime) -> TaskStatus:
    """Another one lands first. What was known of the tip is outdated then; the count of rounds goes
    on: Jobs that are gone had earlier numbers in their names."""
    assert status.delivery is not None
    text = f"'{before.metadata.name}' lands first"
    delivery = Delivery(
        state="Pending",
        onto=status.delivery.onto,
        round=status.delivery.round,
        failures=status.delivery.failures,
        **status.delivery.request,
    )
    if status.delivery == delivery and (is_trying(status) or _says(status, text)):
        return status  # all but the first of the line, at each look
    status = status.model_copy(update={"delivery": delivery})
    if is_trying(status):
        return status
    return waits(status, WaitReason.MERGE_QUEUE, text, now)
