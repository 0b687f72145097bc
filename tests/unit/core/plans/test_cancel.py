"""A Plan that is cancelled, is over, or is being deleted."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.programs.merge import BeginResult
from bernstein.api.states import TaskState
from bernstein.api.waiting import Cancel
from bernstein.core.actions import CancelTasks, DeleteJobs
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    NOW,
    closed,
    result_job,
    stalled_for,
    status,
    told,
    waits,
)
from tests.unit.core.plans.decisions import AT_WORK, CANCEL, GIVEN_UP, look, task

INTEGRATION = "refs/bernstein/1111222233334444/integration"
BEGAN = result_job("web-begin-0", "begin", BeginResult(BASE, BASE, INTEGRATION))


def test_a_cancel_is_handed_on_and_waits_for_every_task() -> None:
    told_ = objects.task("told", status=status(TaskState.IN_PROGRESS), cancel=CANCEL, stage="build")

    decision = look(objects.plan(cancel=CANCEL), AT_WORK, told_, GIVEN_UP)

    assert decision.actions == (CancelTasks(("busy",), Cancel(reason="not needed")),)
    assert decision.status.phase == "Cancelling"


@pytest.mark.parametrize(
    ("reason", "handed_on"),
    [("one\ntwo \x1b[2Jthree", "one two three"), ("\u200b", "Cancelled by user")],
)
def test_a_reason_of_an_older_release_is_handed_on_in_one_line(reason: str, handed_on: str) -> None:
    decision = look(objects.plan(cancel={"reason": reason, "by": "ben"}), AT_WORK)

    assert decision.actions == (CancelTasks(("busy",), Cancel(reason=handed_on, by="ben")),)


def test_a_plan_that_is_cancelled_says_which_task_cannot_end_and_what_helps() -> None:
    text = "its Project is gone. Remedy: Delete the Task."
    stuck = status(TaskState.DONE, waiting=waits("ProjectGone", text, needs_person=True))
    untold = objects.task("a", status=stuck)
    behind = objects.task(
        "b", status=stuck.model_copy(update={"observed_generation": 0}), cancel=CANCEL
    )
    knows = objects.task("c", status=stuck, cancel=CANCEL)

    found = look(objects.plan(cancel=CANCEL), untold, behind, knows).status
    assert (found.phase, stalled_for(found.conditions)) == ("Cancelling", "ProjectGone")
    assert found.waiting is not None
    assert found.waiting.message == f"Task 'c': {text}"

    before = look(objects.plan(cancel=CANCEL), untold, behind).status
    assert (before.phase, before.waiting) == ("Cancelling", None), "they may end yet"
    after = look(objects.plan(cancel=CANCEL, status=found), AT_WORK).status
    assert (after.phase, after.waiting) == ("Cancelling", None)


def test_a_plan_is_cancelled_when_no_task_can_go_on() -> None:
    over_ = (GIVEN_UP, task("a", TaskState.CLOSED), task("b", TaskState.CANCELLED))

    found = look(objects.plan(cancel=CANCEL), *over_).status

    assert (found.phase, found.ended_at) == ("Cancelled", NOW)
    assert told(found.conditions)["Succeeded"] == ("False", "Cancelled")
    assert stalled_for(found.conditions) is None


def test_a_cancel_after_the_merge_has_started_comes_too_late() -> None:
    landing = Delivery(state="Pending", step="Landing", onto="refs/heads/main", round=1)
    late = objects.plan(cancel=CANCEL, status=PlanStatus(delivery=landing, jobs=1))

    found = look(late, objects.task(status=closed(1))).status

    assert found.phase != "Cancelled"
    assert told(found.conditions)["CancelRefused"] == ("True", "MergeInProgress")


@pytest.mark.parametrize("phase", ["Succeeded", "Cancelled"])
def test_a_plan_that_is_over_does_nothing_whatever_happens_to_its_tasks(phase: str) -> None:
    over_ = objects.plan(
        cancel=CANCEL,
        status=PlanStatus(phase=phase, ended_at=NOW, expanded=True, spend_usd="0"),
    )

    decision = look(over_)

    assert decision.actions == ()
    assert decision.status.phase == phase


def test_a_job_that_is_made_after_a_plans_end_is_deleted() -> None:
    over_ = objects.plan(status=PlanStatus(phase="Cancelled", ended_at=NOW, expanded=True))
    late = objects.job("plan-begin-0", objects.pod(objects.running("begin")))

    assert look(over_, jobs=(late,)).actions == (DeleteJobs((late,)),)


def test_a_plan_that_is_being_deleted_starts_nothing() -> None:
    assert look(objects.plan(begun=False, deleting=True)).actions == ()
