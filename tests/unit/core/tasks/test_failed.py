"""A failed Task is tried again, or stays as it is."""

from __future__ import annotations

import pytest

from bernstein.api.states import SessionState, TaskState
from tests.unit.core import objects
from tests.unit.core.objects import NOW, dead, session, snapshot, stalled_for, status, told
from tests.unit.core.tasks.decisions import decide


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_max_retries_is_the_number_of_attempts_after_the_first(retries: int) -> None:
    found, sessions = status(), 0
    for _ in range(20):
        subject = objects.task(status=found, maxRetries=retries)
        if found.state is TaskState.IN_PROGRESS:
            sessions += 1
            ended = dead("AgentFailed", number=found.sessions)
            found = decide(snapshot(subject, sessions=(ended,))).status
        elif found.state is TaskState.CLAIMED:
            ended = session(found.sessions, state=SessionState.WORKING)
            found = decide(snapshot(subject, sessions=(ended,))).status
        else:
            found = decide(snapshot(subject)).status

    assert sessions == 1 + retries
    assert (found.state, found.attempt) == (TaskState.FAILED, 1 + retries)
    assert told(found.conditions)["Succeeded"] == ("False", "AgentFailed")
    assert stalled_for(found.conditions) == "AgentFailed"
    assert found.ended_at == NOW


def test_a_failed_task_without_retries_stays_as_it_is() -> None:
    waiting = objects.waits("AgentFailed", "it gave up", needs_person=True)
    failed = status(TaskState.FAILED, attempt=4, waiting=waiting)
    told = decide(snapshot(objects.task(status=failed))).status

    assert told.waiting == waiting
    assert decide(snapshot(objects.task(status=told))).status == told
