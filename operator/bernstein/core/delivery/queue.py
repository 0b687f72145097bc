"""Where a Task's work lands, who may land now, and on what tip."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.conditions import is_stalled
from bernstein.core.snapshot import TaskSnapshot

_NEVER = datetime.min.replace(tzinfo=UTC)


def _lane(snapshot: TaskSnapshot) -> list[Task]:
    """Other Tasks that land in the same ref."""
    me, plan = snapshot.task.metadata.name, owners.plan_uid(snapshot.task)
    return [t for t in snapshot.peers if t.metadata.name != me and owners.plan_uid(t) == plan]


def waits_for(snapshot: TaskSnapshot) -> str | None:
    """The Task that must land first; None: this one may. Only one lands in a ref at a time."""
    queued = []
    for task in _lane(snapshot):
        status = task.status
        if status.state is not TaskState.DONE or status.delivery is None:
            continue
        if is_stalled(status):
            continue
        if status.delivery.step in ("Preparing", "Landing"):
            return task.metadata.name
        if status.delivery.step == "Queued":
            queued.append(task)
    first = min(queued, key=_order, default=None)
    is_queued = snapshot.task.status.delivery is not None
    if first is None or (is_queued and _order(snapshot.task) < _order(first)):
        return None
    return first.metadata.name


def _order(task: Task) -> tuple[int, datetime, str]:
    return (task.spec.priority, task.metadata.creation_timestamp or _NEVER, task.metadata.name)


def known_tip(snapshot: TaskSnapshot) -> str | None:
    """Where the ref is, as far as statuses tell: the remote decides. None: nothing is known."""
    status = snapshot.task.status
    tip = status.delivery.tip if status.delivery is not None else None
    if tip is not None or snapshot.plan is None:
        return tip
    landed = [
        t.status.delivery
        for t in _lane(snapshot)
        if t.status.delivery is not None
        and t.status.delivery.state == "Merged"
        and t.status.delivery.onto == snapshot.target_ref
    ]
    last = max(landed, key=lambda d: d.landed_at or _NEVER, default=None)
    if last is not None:
        return last.sha
    integration = snapshot.plan.status.integration
    return integration.target_sha if integration else None
