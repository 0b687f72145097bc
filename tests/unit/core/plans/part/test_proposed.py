"""A part of a Plan that goes by a pull request: it is waited for as a whole one is."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.project import Project
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.core.actions import PlanDecision
from bernstein.core.jobs import JobView
from tests.unit.core.delivery.plans import there
from tests.unit.core.delivery.proposed.proposals import BRANCH, opened, project, watched
from tests.unit.core.objects import sha
from tests.unit.core.plans.decisions import GIVEN_UP, again, look
from tests.unit.core.plans.part.parts import FIRST, landing_of, over, passed

BLIND = project(PullRequestWatch(reason="ForgeUnreachable", message="nobody answers"))


def proposed() -> Plan:
    """Its pull request is open."""
    part, whole = landing_of(over(), FIRST, GIVEN_UP), opened().delivery
    assert whole is not None
    assert whole.pull_request is not None
    pull = whole.pull_request.model_copy(update={"sha": sha(1)})
    update = {"delivery": whole.model_copy(update={"sha": sha(1), "pull_request": pull})}
    return part.model_copy(update={"status": part.status.model_copy(update=update)})


def test_it_is_pushed_to_a_branch_of_its_own_beside_that_of_the_whole() -> None:
    judged = passed(over(), FIRST, GIVEN_UP)
    begun = look(judged, FIRST, GIVEN_UP, project=project()).status
    assert begun.delivery is not None
    assert begun.delivery.branch == f"{BRANCH}-part-{judged.status.jobs + 1}"


@pytest.mark.parametrize("of", [BLIND, watched("Closed", sha(1)), watched("Open", sha(5))])
def test_what_may_be_mended_on_the_forge_does_not_end_it(of: Project) -> None:
    before = proposed()
    decision = look(before, FIRST, GIVEN_UP, project=of)
    found = decision.status
    assert found.partial is not None
    assert (found.phase, found.ended_at) == ("Stalled", None)

    after = look(again(before, decision), FIRST, GIVEN_UP, project=watched("Open", sha(1))).status
    assert after.waiting is not None
    assert (after.phase, after.waiting.reason) == ("Delivering", "PullRequestOpen")


def test_it_is_delivered_once_it_is_merged() -> None:
    merged = watched("Merged", sha(1))
    before = proposed()
    begun = again(before, look(before, FIRST, GIVEN_UP, project=merged))

    def step(_status: PlanStatus, found: JobView, **more: Any) -> PlanDecision:
        return look(begun, FIRST, GIVEN_UP, jobs=(found,), **more)

    assert there(step, begun.status, project=merged).phase == "DeliveredPartially"
