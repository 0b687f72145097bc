"""A landing that has begun, and whose Project is gone: its Job is followed to its end."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.pod import FENCE, INSPECT
from bernstein.api.states import TaskState
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs, RunFence, RunLand, TaskDecision
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, LateRequests, refusal
from bernstein.core.waiting import parted
from tests.unit.core import objects, scheduled
from tests.unit.core.delivery.tasks import INTEGRATION, LANDING, landed, step, verified
from tests.unit.core.objects import (
    HEAD,
    NOW,
    Object,
    ended,
    job,
    over,
    pod,
    running,
    snapshot,
    stalled_for,
    told,
    waiting,
)

LAND = "work-s1-land-1"
GONE = Diagnosis("ProjectGone", "Project 'default' was deleted")
FENCED = job(LAND, labels={labels.JOB: FENCE})
SILENT = job(LAND, over(ended("land", code=137), phase="Failed"))
NO_IMAGE = waiting("land", "ImagePullBackOff", "not found")
NEVER_RAN = job(LAND, over(NO_IMAGE, phase="Failed", deleting=True))
ALONE: Object = {"plan": None}


def look(
    *jobs: JobView,
    delivery: Delivery = LANDING,
    cancelled: bool = True,
    gone: Diagnosis = GONE,
    **more: Any,
) -> TaskDecision:
    spec: Object = {"cancel": {"reason": "enough"}} if cancelled else {}
    subject = objects.task(status=verified(delivery), **spec)
    given = snapshot(subject, jobs=jobs, project=None, project_problem=gone, **more)
    return scheduled.decide(given, NOW)


@pytest.mark.parametrize("cancelled", [True, False])
@pytest.mark.parametrize("more", [{}, ALONE], ids=["of a Plan", "alone"])
def test_what_has_landed_has_landed(cancelled: bool, more: Object) -> None:
    found = look(landed(), cancelled=cancelled, **more).status

    assert found.state is TaskState.CLOSED
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.sha) == ("Merged", HEAD)
    assert told(found.conditions)["Succeeded"] == ("True", "Closed")


def test_while_its_job_is_at_work_it_is_landing() -> None:
    waits = look(job(LAND, pod(running("land"))))

    assert (waits.actions, waits.requeue_after) == ((), LOOK_AGAIN_SECONDS)
    assert waits.status.waiting is None
    assert told(waits.status.conditions)["Reconciling"] == ("True", "Landing")
    assert told(waits.status.conditions)["CancelRefused"] == ("True", "MergeInProgress")


def test_it_does_not_close_beside_a_check_that_a_late_request_has_begun() -> None:
    late = job("work-s1-inspect-0", pod(running("checkout"), running(INSPECT)))

    found = look(late, landed())

    assert found.status.state is TaskState.DONE
    assert (found.actions, found.requeue_after) == ((DeleteJobs((late,)),), LOOK_AGAIN_SECONDS)


@pytest.mark.parametrize("job", [landed("Moved", objects.TIP), NEVER_RAN])
def test_what_has_not_landed_for_certain_can_be_cancelled(job: JobView) -> None:
    kept = look(job, cancelled=False).status
    assert (kept.state, stalled_for(kept.conditions)) == (TaskState.DONE, "ProjectGone")
    assert kept.delivery is not None
    assert kept.delivery.step is None

    found = look(job, delivery=kept.delivery)

    assert (found.status.state, found.actions) == (TaskState.CANCELLED, ())


def test_of_what_may_have_landed_a_person_is_told_what_to_do_and_it_is_not_cancelled() -> None:
    first = look(SILENT)
    assert first.status.delivery is not None
    assert first.status.delivery.may_have_landed is True

    for decision in (first, look(SILENT, delivery=first.status.delivery)):
        assert (decision.status.state, decision.actions) == (TaskState.DONE, ())
        assert decision.status.waiting is not None
        text, remedy = parted(decision.status.waiting.message)
        assert f"deleted; whether {HEAD} has landed in {INTEGRATION} is not known" in text
        assert "delete the Task" in (remedy or "")
        assert stalled_for(decision.status.conditions) == "ProjectGone"


def test_a_job_that_reads_the_remote_afterwards_still_tells() -> None:
    doubtful = step("Landing", may_have_landed=True)

    assert look(landed(), delivery=doubtful).status.state is TaskState.CLOSED


def test_a_job_that_nobody_sees_gets_no_chance_to_land_it_later() -> None:
    first = look()
    assert (first.actions, first.requeue_after) == ((RunFence(LAND),), LOOK_AGAIN_SECONDS)

    for there in (FENCED, refusal(LAND, "exceeded quota", NOW)):
        then = look(there)
        assert (then.actions, then.status.state) == ((), TaskState.DONE)
        assert then.status.waiting is not None
        assert "is not known" in then.status.waiting.message


def test_the_name_of_a_job_that_was_given_up_is_taken_before_it_is_judged() -> None:
    given_up = step("Landing", abandoned={"reason": "ImagePullFailed", "message": "not found"})

    fenced = look(delivery=given_up, late=LateRequests(frozenset({LAND})))
    assert fenced.actions == (RunFence(LAND),)

    found = look(FENCED, delivery=given_up).status
    assert found.delivery is not None
    assert (found.state, found.delivery.may_have_landed) == (TaskState.DONE, True)


def test_what_an_older_release_began_may_go_on_once_a_project_has_that_name() -> None:
    missing = Diagnosis("ProjectNotFound", "there is no Project 'default' in this namespace")

    told_ = look(SILENT, gone=missing).status

    assert told_.waiting is not None
    assert "Remedy: Create the Project" in told_.waiting.message
    assert told_.delivery is not None
    back = objects.task(status=verified(told_.delivery))
    (reads,) = scheduled.decide(snapshot(back, jobs=(SILENT,)), NOW).actions
    assert isinstance(reads, RunLand)
    assert reads.expect is None, "it pushes nothing"


def test_before_the_step_landing_a_cancel_comes_in_time() -> None:
    queued = Delivery(state="Pending", onto=INTEGRATION)

    assert look(delivery=queued).status.state is TaskState.CANCELLED
