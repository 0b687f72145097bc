"""Whose turn it is to land. A lane is the line of Tasks that land in the same ref.

A Task that is verified asks for its turn: it waits for `MergeQueue`. The schedule gives it
(`Next`), to one in each lane, and only then the Task begins to land. The turn stands in the Task's
status: whoever leads next reads it there, and it is taken back with a write of that Task alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import WaitReason
from bernstein.core.waiting import goes_on, is_stalled, waits

_NEVER = datetime.min.replace(tzinfo=UTC)


def turns(tasks: Iterable[Task], now: datetime) -> list[tuple[Task, TaskStatus]]:
    """The statuses of those that land: who has the turn now, who has lost it, who waits for whom.

    Those with a turn come first. Of the others some are as they were.
    """
    lanes: defaultdict[str | None, list[Task]] = defaultdict(list)
    for task in tasks:
        delivery = task.status.delivery
        on_its_way = _step(task.status) is not None or _is_queued(task.status)
        if task.status.state is TaskState.DONE and delivery is not None and on_its_way:
            lanes[delivery.onto].append(task)
    decided = [each for lane in lanes.values() for each in _lane(lane, now)]
    return sorted(decided, key=lambda each: _step(each[1]) != "Next")


def _lane(tasks: list[Task], now: datetime) -> Iterable[tuple[Task, TaskStatus]]:
    lost = [t for t in tasks if _step(t.status) == "Next" and _is_kept_back(t.status)]
    for task in lost:
        yield task, _without_turn(task.status)
    moving = [t for t in tasks if t not in lost and not is_stalled(t.status)]
    before = next((t for t in moving if _step(t.status) is not None), None)
    for task in sorted((t for t in moving if _asks(t)), key=_order):
        if before is not None:
            yield task, _behind(task.status, before, now)
        elif not lost:
            # Else once it is seen that the turn was taken back.
            yield task, _next(task.status)
        before = task


def _asks(task: Task) -> bool:
    going = task.spec.cancel is not None or task.metadata.deletion_timestamp is not None
    return _step(task.status) is None and _is_queued(task.status) and not going


def _is_queued(status: TaskStatus) -> bool:
    return status.waiting is not None and status.waiting.reason == WaitReason.MERGE_QUEUE


def _is_kept_back(status: TaskStatus) -> bool:
    """It asks for its turn anew once it may go on."""
    return status.waiting is not None


def _order(task: Task) -> tuple[int, datetime, str]:
    return (task.spec.priority, task.metadata.creation_timestamp or _NEVER, task.metadata.name)


def _step(status: TaskStatus) -> str | None:
    return status.delivery.step if status.delivery is not None else None


def _without_turn(status: TaskStatus) -> TaskStatus:
    assert status.delivery is not None
    return status.model_copy(update={"delivery": status.delivery.model_copy(update={"step": None})})


def _next(status: TaskStatus) -> TaskStatus:
    assert status.delivery is not None
    delivery = status.delivery.model_copy(update={"step": "Next"})
    return goes_on(status.model_copy(update={"delivery": delivery}))


def _behind(status: TaskStatus, before: Task, now: datetime) -> TaskStatus:
    """Another one lands first. What was known of the tip is outdated then; the count of rounds goes
    on: Jobs that are gone had earlier numbers in their names."""
    assert status.delivery is not None
    text = f"'{before.metadata.name}' lands first"
    delivery = Delivery(state="Pending", onto=status.delivery.onto, round=status.delivery.round)
    status = status.model_copy(update={"delivery": delivery})
    return waits(status, WaitReason.MERGE_QUEUE, text, now)
