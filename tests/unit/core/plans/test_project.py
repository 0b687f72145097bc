"""A Plan and the Project under which it began."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.core import conditions
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.plans import decide as plan_decide
from tests.unit.core import objects
from tests.unit.core.delivery.plans import step
from tests.unit.core.objects import NOW, plan_snapshot, stalled_for, told

GONE: dict[str, Any] = {
    "project": None,
    "project_problem": Diagnosis("ProjectGone", "Project 'default' was deleted"),
}


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


@pytest.mark.parametrize("landing", [False, True])
def test_it_can_be_cancelled_unless_its_landing_has_begun(landing: bool) -> None:
    status = pinned(step("Landing") if landing else PlanStatus())
    cancelled = objects.plan(status=status, cancel={"reason": "enough"})
    found = plan_decide.decide(plan_snapshot(cancelled, **GONE), NOW).status

    assert (found.phase == "Cancelled") is not landing
    assert (stalled_for(found.conditions) == "ProjectGone") is landing
    assert ("CancelRefused" in told(found.conditions)) is landing
