"""When nobody needs a session's object any more."""

from __future__ import annotations

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask, Settled
from bernstein.api.states import TaskState
from bernstein.api.task import Attempt, Task
from bernstein.core.sessions import decide as sessions
from tests.unit.core import objects
from tests.unit.core.objects import at, session


def known(sessions_: int, uid: str = "uid-work") -> PlanStatus:
    """A Plan's status that holds the cost of so many sessions of the Task `work`."""
    return PlanStatus(tasks=(PlanTask(name="work", stage="s", uid=uid, sessions=sessions_),))


THERE = objects.task(status=objects.with_session(TaskState.IN_PROGRESS))
TOOK = THERE.model_copy(update={"status": objects.with_session(TaskState.DONE)})
LEAVING = THERE.model_copy(
    update={"metadata": THERE.metadata.model_copy(update={"deletion_timestamp": at(0)})}
)
ANOTHER = THERE.model_copy(
    update={"metadata": THERE.metadata.model_copy(update={"uid": "uid-another"})}
)
"""A Task that has the name now."""


@pytest.mark.parametrize(
    ("task", "settled"),
    [(THERE, False), (TOOK, True), (LEAVING, True), (ANOTHER, True), (None, True)],
)
def test_without_a_plan_a_session_is_settled_by_its_task_or_when_that_is_gone(
    task: Task | None, settled: bool
) -> None:
    attempt = Attempt(session="work-s1", attempt=1, counted=True, reason="Succeeded")
    if task is TOOK:
        status = TOOK.status.model_copy(update={"attempts": (attempt,)})
        task = TOOK.model_copy(update={"status": status})

    assert sessions.is_settled(session(), task, None) is settled
    another = objects.plan(status=known(1)).metadata.model_copy(update={"uid": "uid-another"})
    elsewhere = objects.plan(status=known(1)).model_copy(update={"metadata": another})
    assert sessions.is_settled(session(), task, elsewhere) is settled
    assert sessions.is_settled(session(), task, objects.plan(deleting=True)) is settled


@pytest.mark.parametrize("task", [THERE, TOOK, LEAVING, ANOTHER, None])
@pytest.mark.parametrize(
    ("status", "settled"),
    [
        (known(0), False),
        (known(1), True),
        (known(1, uid="uid-another"), False),
        (PlanStatus(settled=Settled(sessions=("uid-work-s2",))), False),
        (PlanStatus(settled=Settled(sessions=("uid-work-s1",))), True),
    ],
)
def test_a_session_of_a_plan_is_settled_when_the_plan_keeps_its_cost(
    task: Task | None, status: PlanStatus, settled: bool
) -> None:
    assert sessions.is_settled(session(), task, objects.plan(status=status)) is settled
