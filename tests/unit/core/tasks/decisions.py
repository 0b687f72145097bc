"""What the tests of a Task's states decide on."""

from __future__ import annotations

from typing import Any

from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import TaskDecision
from bernstein.core.snapshot import TaskSnapshot
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, snapshot, with_session

CANCEL = {"reason": "not needed"}


def decide(subject: TaskSnapshot) -> TaskDecision:
    return scheduled.decide(subject, NOW)


def after(ended: AgentSession, before: TaskStatus | None = None, **spec: Any) -> TaskStatus:
    """The status that follows when the session of the Task `work` has ended like this."""
    found = before or with_session(TaskState.IN_PROGRESS)
    subject = objects.task(status=found, **spec)
    return decide(snapshot(subject, sessions=(ended,))).status


ATTEMPTS = tuple(
    {"session": f"work-s{i}", "attempt": i, "counted": True, "reason": "AgentFailed"}
    for i in (1, 2)
)
