"""Open: it waits, or its next session is claimed."""

from __future__ import annotations

from datetime import datetime

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import QueueReason, WaitReason
from bernstein.core import names
from bernstein.core.actions import TaskDecision
from bernstein.core.conditions import busy, is_stalled, note, stalled
from bernstein.core.fsm import move
from bernstein.core.reasons import with_remedy
from bernstein.core.routing.choose import route_of
from bernstein.core.scheduling import waiting
from bernstein.core.scheduling.waiting import Wait
from bernstein.core.snapshot import TaskSnapshot


def decide_open(
    snapshot: TaskSnapshot, status: TaskStatus, now: datetime, *, may_claim: bool = True
) -> TaskDecision:
    """The next step of a Task that waits; without `may_claim` it starts at the next look."""
    no_session = waiting.first(waiting.LAUNCH, snapshot, now)
    wait = no_session or waiting.first(waiting.CHAIN, snapshot, now)
    if snapshot.task.spec.depends_on and no_session is None:
        status = _with_dependencies(status, wait, now)
    if wait is not None:
        return TaskDecision(_waiting(status, wait, now), (), wait.seconds)
    status = status.model_copy(update={"queue": None})
    if not may_claim:
        return TaskDecision(busy(status, "Open", "about to start", now))
    return TaskDecision(_claim(snapshot, status, now))


def _with_dependencies(status: TaskStatus, wait: Wait | None, now: datetime) -> TaskStatus:
    """The status with the condition DependenciesMet, where the chain got as far as that link."""
    if wait is not None and wait.reason in (
        WaitReason.DEPENDENCY_PENDING,
        Reason.DEPENDENCY_FAILED,
    ):
        return note(status, ConditionType.DEPENDENCIES_MET, False, wait.reason, wait.message, now)
    return note(status, ConditionType.DEPENDENCIES_MET, True, "AllClosed", "", now)


def _waiting(status: TaskStatus, wait: Wait, now: datetime) -> TaskStatus:
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


def _claim(snapshot: TaskSnapshot, status: TaskStatus, now: datetime) -> TaskStatus:
    assert snapshot.project is not None
    number = status.sessions + 1
    claimed = move(status, TaskState.CLAIMED, "Scheduled", now).model_copy(
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
    return busy(claimed, "Claimed", "its session is starting", now)
