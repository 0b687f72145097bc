"""What the status of an Open Task says: why it waits, or that its next session is claimed."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import QueueReason, WaitReason
from bernstein.core import names
from bernstein.core.conditions import busy, is_stalled, note, stalled
from bernstein.core.fsm import move
from bernstein.core.reasons import with_remedy
from bernstein.core.routing.choose import route_of
from bernstein.core.scheduling import waiting
from bernstein.core.scheduling.waiting import Wait
from bernstein.core.snapshot import TaskSnapshot


def waits(snapshot: TaskSnapshot, status: TaskStatus, wait: Wait, now: datetime) -> TaskStatus:
    """The status of a Task that does not start."""
    status = _with_dependencies(snapshot, status, wait, now)
    queue = QueueReason(reason=wait.reason, message=wait.message)
    queued = status.model_copy(update={"queue": queue})
    if wait.needs_person:
        message = with_remedy(wait.message, wait.reason, own=wait.remedy)
        return stalled(queued, wait.reason, message, now)
    # Stalled already says why it is held, and with more words than the queue: it stays.
    is_held = status.hold is not None and is_stalled(status)
    if is_held or wait.seconds is not None:
        return queued
    return busy(queued, "Queued", wait.message, now)


def claimed(snapshot: TaskSnapshot, now: datetime) -> TaskStatus:
    """The status of a Task that starts: number and name of its session come before the session."""
    assert snapshot.project is not None
    status = _with_dependencies(snapshot, snapshot.task.status, None, now)
    number = status.sessions + 1
    claim = move(status, TaskState.CLAIMED, "Scheduled", now).model_copy(
        update={
            "project_uid": snapshot.project.metadata.uid,
            "sessions": number,
            "session": names.session(snapshot.task.metadata.name, number),
            "queue": None,
            "verification": None,
            "delivery": None,
            "model": route_of(snapshot).model,
        }
    )
    return busy(claim, "Claimed", "its session is starting", now)


def _with_dependencies(
    snapshot: TaskSnapshot, status: TaskStatus, wait: Wait | None, now: datetime
) -> TaskStatus:
    """The status with the condition DependenciesMet, where the chain got as far as that link."""
    if not snapshot.task.spec.depends_on:
        return status
    if wait is None:
        return note(status, ConditionType.DEPENDENCIES_MET, True, "AllClosed", "", now)
    if wait.reason in (WaitReason.DEPENDENCY_PENDING, Reason.DEPENDENCY_FAILED):
        return note(status, ConditionType.DEPENDENCIES_MET, False, wait.reason, wait.message, now)
    if waiting.first(waiting.LAUNCH, snapshot, now) is not None:
        return status
    return note(status, ConditionType.DEPENDENCIES_MET, True, "AllClosed", "", now)
