"""A Job that moves a ref is given up while a request for it that had no answer may be applied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bernstein.api.pod import FENCE, INSPECT
from bernstein.api.programs.merge import LandResult
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs, RunFence
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, LateRequests
from tests.unit.core.delivery.tasks import LANDING, PREPARING, look, verified
from tests.unit.core.objects import (
    BASE,
    HEAD,
    ended,
    job,
    over,
    pod,
    running,
    stalled_for,
    waiting,
)

LAND = "work-s1-land-1"
STUCK = waiting("land", "ImagePullBackOff", "not found")
ENDED = job(LAND, over(STUCK, phase="Failed", deleting=True), deleting=True)
ORPHAN = replace(ENDED, orphan=True)
FENCED = job(LAND, labels={labels.JOB: FENCE})
LATE = LateRequests(frozenset({LAND}))


def given_up(late: LateRequests = LATE) -> TaskStatus:
    stuck = job(LAND, pod(STUCK, phase="Pending"))
    decision = look(verified(LANDING), stuck, late=late)
    assert decision.actions == (DeleteJobs((stuck,)),)
    return decision.status


@pytest.mark.parametrize("late", [LATE, LateRequests(unknown=True)])
@pytest.mark.parametrize("left", [(), (ORPHAN,)])
def test_a_fence_takes_the_name_of_a_land_job_that_a_late_request_may_make_again(
    left: tuple[JobView, ...], late: LateRequests
) -> None:
    waits = look(given_up(late), *left, late=late)

    assert waits.actions == (RunFence(LAND),)
    assert waits.requeue_after == LOOK_AGAIN_SECONDS
    assert waits.status.delivery is not None
    assert (waits.status.delivery.step, waits.status.delivery.round) == ("Landing", 1)


def test_nothing_else_is_tried_while_the_job_that_was_given_up_is_not_gone() -> None:
    waits = look(given_up(), ENDED, late=LATE)

    assert (waits.actions, waits.requeue_after) == ((), LOOK_AGAIN_SECONDS)


@pytest.mark.parametrize(
    ("left", "next_step"), [(FENCED, "Landing"), (replace(ORPHAN, fenced=True), None)]
)
def test_why_it_was_given_up_is_told_once_its_name_is_taken(
    left: JobView, next_step: str | None
) -> None:
    """Without its pod nothing tells whether it pushed: then the next Job reads the remote."""
    found = look(given_up(), left, late=LATE).status

    assert stalled_for(found.conditions) == "ImagePullFailed"
    assert (found.delivery and found.delivery.step) == next_step


def test_requests_for_other_jobs_keep_nothing_back() -> None:
    other = LateRequests(frozenset({"work-s1-land-2"}))

    found = look(given_up(other), ENDED, late=other).status

    assert stalled_for(found.conditions) == "ImagePullFailed"


def test_what_landed_although_it_was_given_up_has_landed_whatever_comes_late() -> None:
    pushed = job(LAND, over(ended("land", said=LandResult("Landed", HEAD)), phase="Succeeded"))

    assert look(given_up(), pushed, late=LATE).status.state is TaskState.CLOSED


def test_a_prepare_job_that_is_given_up_is_fenced_too() -> None:
    name, stuck = "work-s1-prepare-1", waiting("prepare", "ImagePullBackOff", "not found")
    late = LateRequests(frozenset({name}))
    given = look(verified(PREPARING), job(name, pod(stuck, phase="Pending")), late=late).status

    assert look(given, late=late).actions == (RunFence(name),)


def test_what_changes_nothing_does_not_close_beside_a_check_that_came_late() -> None:
    nothing = verified(verification={"sha": BASE})
    late = job("work-s1-inspect-0", pod(running("checkout"), running(INSPECT)))

    found = look(nothing, late)

    assert (found.status.state, found.requeue_after) == (TaskState.DONE, LOOK_AGAIN_SECONDS)
    assert DeleteJobs((late,)) in found.actions
    assert look(nothing).status.state is TaskState.CLOSED
