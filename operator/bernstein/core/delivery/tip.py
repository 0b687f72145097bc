"""On what tip a Task's work lands, as far as statuses tell."""

from __future__ import annotations

from datetime import UTC, datetime

from bernstein.api.task import Task
from bernstein.core import owners
from bernstein.core.snapshot import TaskSnapshot

_NEVER = datetime.min.replace(tzinfo=UTC)


def _lane(snapshot: TaskSnapshot) -> list[Task]:
    """Other Tasks that land in the same ref."""
    me, plan = snapshot.task.metadata.name, owners.plan_uid(snapshot.task)
    return [t for t in snapshot.peers if t.metadata.name != me and owners.plan_uid(t) == plan]


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
