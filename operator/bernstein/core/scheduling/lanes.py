"""Whose turn it is to land. A lane is the line of Tasks that land in the same ref.

A Task that is verified asks for its turn (`Queued`). The schedule gives it (`Next`), to one in each
lane, and only then the Task begins to land. The turn stands in the Task's status: whoever leads
next reads it there, and it is taken back with a write of that Task alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.api.waiting import QueueReason, WaitReason
from bernstein.core.conditions import busy, is_stalled

_NEVER = datetime.min.replace(tzinfo=UTC)


def turns(tasks: Iterable[Task], now: datetime) -> list[tuple[Task, TaskStatus]]:
    """The statuses of those that land: who has the turn now, who has lost it, who waits for whom.

    Those with a turn come first. Of the others some are as they were.
    """
    lanes: defaultdict[str | None, list[Task]] = defaultdict(list)
    for task in tasks:
        delivery = task.status.delivery
        if task.status.state is TaskState.DONE and delivery is not None and delivery.step:
            lanes[delivery.onto].append(task)
    decided = [each for lane in lanes.values() for each in _lane(lane, now)]
    return sorted(decided, key=lambda each: _step(each[1]) != "Next")


def _lane(tasks: list[Task], now: datetime) -> Iterable[tuple[Task, TaskStatus]]:
    lost = [t for t in tasks if _step(t.status) == "Next" and _is_kept_back(t.status)]
    for task in lost:
        yield task, _queued(task.status)
    moving = [t for t in tasks if t not in lost and not is_stalled(t.status)]
    before = next((t for t in moving if _step(t.status) != "Queued"), None)
    for task in sorted((t for t in moving if _asks(t)), key=_order):
        if before is not None:
            yield task, _behind(task.status, before, now)
        elif not lost:
            # Else once it is seen that the turn was taken back.
            yield task, _next(task.status, now)
        before = task


def _asks(task: Task) -> bool:
    going = task.spec.cancel is not None or task.metadata.deletion_timestamp is not None
    return _step(task.status) == "Queued" and not going and not _is_kept_back(task.status)


def _is_kept_back(status: TaskStatus) -> bool:
    """It asks for its turn anew once it may go on."""
    return status.hold is not None or is_stalled(status)


def _order(task: Task) -> tuple[int, datetime, str]:
    return (task.spec.priority, task.metadata.creation_timestamp or _NEVER, task.metadata.name)


def _step(status: TaskStatus) -> str | None:
    return status.delivery.step if status.delivery is not None else None


def _queued(status: TaskStatus) -> TaskStatus:
    assert status.delivery is not None
    return status.model_copy(
        update={"delivery": status.delivery.model_copy(update={"step": "Queued"})}
    )


def _next(status: TaskStatus, now: datetime) -> TaskStatus:
    assert status.delivery is not None
    delivery = status.delivery.model_copy(update={"step": "Next"})
    status = status.model_copy(update={"delivery": delivery, "queue": None})
    return busy(status, "NextToLand", "it is its turn to land", now)


def _behind(status: TaskStatus, before: Task, now: datetime) -> TaskStatus:
    """Another one lands first. What was known of the tip is outdated then; the count of rounds goes
    on: Jobs that are gone had earlier numbers in their names."""
    assert status.delivery is not None
    text = f"'{before.metadata.name}' lands first"
    delivery = Delivery(
        state="Pending", step="Queued", onto=status.delivery.onto, round=status.delivery.round
    )
    reason = QueueReason(reason=WaitReason.MERGE_QUEUE, message=text)
    status = status.model_copy(update={"delivery": delivery, "queue": reason})
    return busy(status, WaitReason.MERGE_QUEUE, text, now)
