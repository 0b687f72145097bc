"""A Task's next step, from every state."""

from __future__ import annotations

import pytest

from bernstein.api.states import TaskState
from bernstein.core.actions import TaskDecision
from tests.unit.core import objects
from tests.unit.core.objects import NOW, snapshot, status, verification
from tests.unit.core.tasks.decisions import CANCEL, decide


@pytest.mark.parametrize("state", [None, *TaskState])
@pytest.mark.parametrize("cancel", [None, CANCEL])
def test_a_decision_on_its_own_result_is_quiet_or_goes_one_legal_step(
    state: TaskState | None, cancel: dict[str, str] | None
) -> None:
    """Wherever a Task is, repeated decisions come to rest without a word from outside."""
    found = status(state, sessions=1, verification=verification(passed=True))
    for _ in range(8):
        subject = objects.task(status=found, cancel=cancel)
        decision = decide(snapshot(subject))
        if decision.status == found:
            return
        found = decision.status
    raise AssertionError(f"never at rest: {found.history}")


@pytest.mark.parametrize("state", [None, *TaskState])
@pytest.mark.parametrize("cancel", [None, CANCEL])
def test_nothing_is_done_for_a_task_that_is_being_deleted(
    state: TaskState | None, cancel: dict[str, str] | None
) -> None:
    found = status(state, sessions=1, verification=verification(passed=True))
    subject = objects.task(status=found, cancel=cancel)
    meta = subject.metadata.model_copy(update={"deletion_timestamp": NOW})
    deleted = subject.model_copy(update={"metadata": meta})
    assert decide(snapshot(deleted)) == TaskDecision(found)
