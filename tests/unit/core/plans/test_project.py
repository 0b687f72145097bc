"""A Plan and the Project under which it began."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.core import conditions
from bernstein.core.actions import PlanDecision
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.plans import decide as plan_decide
from tests.unit.core import objects
from tests.unit.core.delivery import plans
from tests.unit.core.delivery.plans import landing, step
from tests.unit.core.objects import NOW, TIP, job, plan_snapshot, stalled_for, told
from tests.unit.core.plans.decisions import CANCEL

GONE: dict[str, Any] = {
    "project": None,
    "project_problem": Diagnosis("ProjectGone", "Project 'default' was deleted"),
}


def look(status: PlanStatus, *jobs: JobView, **more: Any) -> PlanDecision:
    return plans.look(status, *jobs, **more, **GONE)


def pinned(status: PlanStatus) -> PlanStatus:
    return status.model_copy(update={"project": "default", "project_uid": "uid-default"})


def test_a_plan_keeps_the_uid_of_its_project_when_its_tasks_are_made() -> None:
    found = plan_decide.decide(plan_snapshot(objects.plan(begun=False)), NOW).status

    assert found.expanded
    assert found.project_uid == "uid-default"


def test_a_plan_that_is_not_valid_yet_is_bound_to_no_project() -> None:
    invalid = objects.plan(begun=False, cli="codex")

    assert plan_decide.decide(plan_snapshot(invalid), NOW).status.project_uid is None


def test_a_plan_whose_project_is_gone_waits_and_says_what_a_person_can_do() -> None:
    begun = objects.plan(status=pinned(PlanStatus()))
    decision = plan_decide.decide(plan_snapshot(begun, **GONE), NOW)
    stall = conditions.find(decision.status.conditions, "Stalled")

    assert decision.actions == ()
    assert decision.status.phase == "Stalled"
    assert stall is not None
    assert stall.reason == "ProjectGone"
    assert "Remedy: Cancel the Plan" in stall.message


def test_it_can_be_cancelled() -> None:
    assert look(pinned(PlanStatus()), cancel=CANCEL).status.phase == "Cancelled"


@pytest.mark.parametrize("more", [{}, {"cancel": CANCEL}, {"suspend": True}])
def test_a_landing_that_has_begun_is_followed_to_its_end(more: dict[str, Any]) -> None:
    at_work = job("web-land-1", objects.pod(objects.running("land")))
    before = pinned(step("Landing"))

    waits = look(before, at_work, **more).status
    assert (waits.ended_at, waits.waiting) == (None, None)
    assert ("CancelRefused" in told(waits.conditions)) is ("cancel" in more)

    found = look(before, landing(), **more).status
    assert (found.phase, found.delivery and found.delivery.state) == ("Succeeded", "Merged")


def test_what_has_not_landed_is_cancelled_after_all() -> None:
    elsewhere = landing("Moved", TIP)
    kept = look(pinned(step("Landing")), elsewhere, cancel=CANCEL).status
    assert stalled_for(kept.conditions) == "ProjectGone"

    assert look(kept, elsewhere, cancel=CANCEL).status.phase == "Cancelled"


def test_what_may_have_landed_is_not_cancelled_and_says_what_a_person_can_do() -> None:
    silent = job("web-land-1", objects.over(objects.ended("land", code=137), phase="Failed"))
    first = look(pinned(step("Landing")), silent, cancel=CANCEL)

    found = look(first.status, silent, cancel=CANCEL)

    assert (first.actions, found.actions) == ((), ())
    assert (found.status.phase, found.status.ended_at) == ("Stalled", None)
    stall = conditions.find(found.status.conditions, "Stalled")
    assert stall is not None
    assert stall.reason == "ProjectGone"
    assert "refs/heads/main is not known" in stall.message
    assert "then delete the Task, or its Plan" in stall.message
