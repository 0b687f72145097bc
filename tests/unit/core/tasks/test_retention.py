"""When a Task that has ended is deleted, and when it is not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import DeleteTask, TaskDecision
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.decide import decide
from bernstein.core.tasks.retention import DELIVERED_BY
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, snapshot

DAYS = 86400.0
WEEK = 7 * DAYS
FINAL = (TaskState.CLOSED, TaskState.CANCELLED, TaskState.FAILED)


def over(state: TaskState = TaskState.CLOSED, **more: Any) -> TaskStatus:
    """The status of a Task that ended now, with no retry left."""
    return objects.status(state, attempt=9, ended_at=NOW, **more)


def alone(status: TaskStatus | None = None, **spec: Any) -> Task:
    """A Task without a Plan."""
    return objects.task(plan=None, status=status or over(), **spec)


def after(seconds: float, of: Task | None = None, **more: Any) -> TaskDecision:
    """What is decided so long after its end, of what was all written then."""
    subject = _snapshot(of or alone(), **more)
    return decide(subject.with_status(decide(subject, NOW).status), at(seconds))


def _snapshot(of: Task, **more: Any) -> TaskSnapshot:
    return snapshot(of, **more)


def marked(name: str, where: str) -> Task:
    task = alone()
    return task.model_copy(
        update={"metadata": task.metadata.model_copy(update={where: {name: "shop"}})}
    )


@pytest.mark.parametrize("state", FINAL)
def test_a_task_without_a_plan_is_deleted_a_week_after_its_end(state: TaskState) -> None:
    task = alone(over(state))

    early, late = after(WEEK - 60, task), after(WEEK, task)

    assert (early.actions, early.requeue_after) == ((), 60)
    assert late.actions == (DeleteTask(),)
    assert late.status.state is state


def test_the_project_says_how_long() -> None:
    short = objects.project(retention={"tasksSeconds": 3600})

    assert after(3599, project=short).requeue_after == 1
    assert after(3600, project=short).actions == (DeleteTask(),)


def test_a_project_that_keeps_all_keeps_all() -> None:
    for_ever = objects.project(retention={"tasksSeconds": 0})

    kept = after(1000 * WEEK, project=for_ever)
    assert (kept.actions, kept.requeue_after) == ((), None)


def test_without_its_project_it_is_kept_as_by_one_that_says_nothing() -> None:
    early, late = (after(seconds, project=None) for seconds in (WEEK - 60, WEEK))

    assert (early.actions, early.requeue_after) == ((), 60)
    assert late.actions == (DeleteTask(),)


def test_a_task_of_a_plan_stays_as_long_as_the_plan() -> None:
    planned = objects.task(status=over())

    assert after(1000 * WEEK, planned).actions == ()
    assert after(1000 * WEEK, planned, plan=None).actions == ()


@pytest.mark.parametrize("where", ["labels", "annotations"])
@pytest.mark.parametrize("name", DELIVERED_BY)
def test_a_task_that_a_tool_would_apply_again_stays(name: str, where: str) -> None:
    assert after(1000 * WEEK, marked(name, where)).actions == ()


def test_a_task_stays_as_long_as_one_that_depends_on_it_has_not_ended() -> None:
    waits = objects.task("next", plan=None, dependsOn=["work"], status=objects.status())
    new = objects.task("next", plan=None, dependsOn=["work"])
    ended = objects.task("next", plan=None, dependsOn=["work"], status=over(TaskState.CANCELLED))

    for unfinished in (waits, new):
        kept = after(1000 * WEEK, dependants=(ended, unfinished))
        assert (kept.actions, kept.requeue_after) == ((), None)
    assert after(WEEK, dependants=(ended,)).actions == (DeleteTask(),)


def test_one_that_is_being_deleted_keeps_none_that_it_depends_on() -> None:
    waits = objects.task("next", plan=None, dependsOn=["work"], status=objects.status())

    leaving = waits.metadata.model_copy(update={"deletion_timestamp": NOW})

    kept = after(WEEK, dependants=(waits.model_copy(update={"metadata": leaving}),))

    assert kept.actions == (DeleteTask(),)


@pytest.mark.parametrize("state", [s for s in TaskState if s not in FINAL])
def test_a_task_that_has_not_ended_stays_whatever_its_status_says_of_an_end(
    state: TaskState,
) -> None:
    task = alone(objects.with_session(state, ended_at=NOW))

    assert DeleteTask() not in after(1000 * WEEK, task).actions


def test_a_failed_task_with_a_retry_left_is_tried_again_and_stays() -> None:
    decision = after(1000 * WEEK, alone(objects.status(TaskState.FAILED, attempt=1)))

    assert decision.status.state is TaskState.OPEN
    assert decision.actions == ()


def test_what_is_to_be_written_of_it_is_written_first() -> None:
    fresh = _snapshot(alone())

    decision = decide(fresh, at(2 * WEEK))

    assert decision.status != fresh.status
    assert decision.actions == ()


def test_what_still_runs_is_ended_first() -> None:
    late = objects.job("work-s1-lint-0")

    decision = after(WEEK, jobs=(late,))

    assert decision.actions
    assert DeleteTask() not in decision.actions


def test_an_end_that_an_older_release_wrote_no_time_for_is_its_last_move() -> None:
    move = {"to_state": "Closed", "reason": "Merged", "attempt": 1, "time": NOW}
    task = alone(objects.status(TaskState.CLOSED, history=[move]))

    assert after(WEEK - 1, task).requeue_after == 1
    assert after(WEEK, task).actions == (DeleteTask(),)


def test_a_task_that_is_being_deleted_is_not_deleted_again() -> None:
    task = alone()
    going = task.metadata.model_copy(update={"deletion_timestamp": NOW})

    assert after(2 * WEEK, task.model_copy(update={"metadata": going})).actions == ()


def test_a_clock_that_went_back_deletes_nothing() -> None:
    decision = decide(_snapshot(alone()), NOW - timedelta(days=400))

    assert decision.actions == ()
