"""Where a Task's work lands, who may land now, and on what tip."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import conditions, names
from bernstein.core.intents import TaskSnapshot

_NEVER = datetime.min.replace(tzinfo=UTC)


def owner_uid(snapshot: TaskSnapshot) -> str:
    """The uid whose refs the Task uses: its Plan's, or its own."""
    return snapshot.plan.metadata.uid if snapshot.plan else snapshot.task.metadata.uid


def ref_of(snapshot: TaskSnapshot) -> str:
    """The Plan's integration ref; without a Plan the Project's branch."""
    if snapshot.plan is not None:
        return names.integration_ref(snapshot.plan.metadata.uid)
    assert snapshot.project is not None
    return names.branch_ref(snapshot.project.spec.repository.branch)


def _lane(snapshot: TaskSnapshot) -> list[Task]:
    """Other Tasks that land in the same ref."""
    mine = snapshot.task.metadata
    plan = mine.labels.get(names.LABEL_PLAN)
    return [
        t
        for t in snapshot.peers
        if t.metadata.name != mine.name and t.metadata.labels.get(names.LABEL_PLAN) == plan
    ]


def waits_for(snapshot: TaskSnapshot) -> str | None:
    """The Task that must land first: landing is serial per ref."""
    queued = []
    for task in _lane(snapshot):
        status = task.status
        if status.state is not TaskState.DONE or status.delivery is None:
            continue
        if conditions.is_true(status.conditions, "Stalled"):
            continue
        if status.delivery.step in ("Preparing", "Landing"):
            return task.metadata.name
        if status.delivery.step == "Queued":
            queued.append(task)
    mine = _order(snapshot.task)
    am_queued = snapshot.task.status.delivery is not None
    first = min(queued, key=_order, default=None)
    if first is not None and am_queued and _order(first) < mine:
        return first.metadata.name
    if first is not None and not am_queued:
        return first.metadata.name
    return None


def _order(task: Task) -> tuple[int, datetime, str]:
    return (task.spec.priority, task.metadata.creation_timestamp or _NEVER, task.metadata.name)


def known_tip(snapshot: TaskSnapshot) -> str | None:
    """Where the ref is as far as the statuses tell; the remote decides. None: nothing is known."""
    status = snapshot.task.status
    seen = status.delivery.tip if status.delivery is not None else None
    landed = [
        t.status.delivery
        for t in _lane(snapshot)
        if t.status.delivery is not None
        and t.status.delivery.state == "Merged"
        and t.status.delivery.onto == ref_of(snapshot)
    ]
    last = max(landed, key=lambda d: d.landed_at or _NEVER, default=None)
    if last is not None and snapshot.plan is not None:
        return seen or last.sha
    if seen is not None or snapshot.plan is None:
        return seen
    integration = snapshot.plan.status.integration
    return integration.target_sha if integration else None
