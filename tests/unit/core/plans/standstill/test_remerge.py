"""A person has what a Plan delivers merged again, and nothing of its Tasks with it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.requests import PlanRequest
from bernstein.api.waiting import Cancel
from bernstein.core.actions import AskTask, PlanDecision, RunLand, RunPrepare, RunPropose
from bernstein.core.jobs import JobView
from bernstein.core.plans.decide import decide
from tests.unit.core import objects
from tests.unit.core.delivery import plans
from tests.unit.core.delivery.plans import prepared, step
from tests.unit.core.delivery.proposed import proposals
from tests.unit.core.objects import at, failed, job, over, plan_snapshot, stalled_for

AGAIN = PlanRequest(id="m-1", verb="Remerge", by="ann", reason="the rule is gone")
REFUSED = job("web-land-1", over(failed("land", "BranchProtected", "no")))
CONFLICT = prepared(sha="", tree="", conflicts=("a.py",))
HELD = plans.look(step("Landing"), REFUSED).status


def asked(status: PlanStatus, *jobs: JobView, now: float = 1, **more: Any) -> PlanDecision:
    spec = {field: more.pop(field, None) for field in ("cancel", "suspend")}
    given = {k: v for k, v in spec.items() if v is not None}
    subject = objects.plan(status=status, requests=[AGAIN.dump()], **given)
    found = plan_snapshot(subject, *plans.TASKS, jobs=jobs, **more)
    return decide(found, at(now))


def answer(decision: PlanDecision) -> tuple[str, str]:
    (told,) = decision.status.requests or ()
    return told.answer, told.reason


def test_a_merge_that_was_refused_is_tried_at_once_and_by_another_job() -> None:
    assert stalled_for(HELD.conditions) == "BranchProtected"
    assert plans.look(HELD, REFUSED, now=1).actions == (), "nobody has asked"

    begun = asked(HELD, REFUSED)
    assert answer(begun) == ("Done", "Remerge")
    after = asked(begun.status, REFUSED, now=2)
    (land,) = (*begun.actions, *after.actions)[:1]
    assert isinstance(land, RunLand)
    assert land.job == "web-land-2"
    assert not any(isinstance(a, AskTask) for a in (*begun.actions, *after.actions))
    assert after.status.spend_usd == HELD.spend_usd


def test_a_conflict_that_was_mended_by_hand_is_prepared_anew() -> None:
    met = plans.look(step("Preparing"), CONFLICT).status
    assert (met.delivery and met.delivery.state) == "Conflict"

    begun = asked(met, CONFLICT)
    after = asked(begun.status, CONFLICT, now=2)
    (prepare,) = (*begun.actions, *after.actions)[:1]
    assert answer(begun) == ("Done", "Remerge")
    assert isinstance(prepare, RunPrepare)
    assert prepare.job == "web-prepare-2"


def test_a_pull_request_that_could_not_be_opened_is_opened_at_once() -> None:
    refused = job("web-propose-2", over(failed("propose", "ForgeTokenRefused")))
    on_a_forge = proposals.project()
    held = proposals.seen(proposals.proposing(), refused).status
    assert stalled_for(held.conditions) == "ForgeTokenRefused"

    begun = asked(held, refused, project=on_a_forge)
    after = asked(begun.status, refused, project=on_a_forge, now=2)
    (propose,) = (*begun.actions, *after.actions)[:1]
    assert answer(begun) == ("Done", "Remerge")
    assert isinstance(propose, RunPropose)
    assert propose.job == "web-propose-3"


@pytest.mark.parametrize("status", [PlanStatus(), step("Landing"), None])
def test_where_no_merge_has_failed_there_is_none_to_try_again(status: PlanStatus | None) -> None:
    found = asked(status or PlanStatus(phase="Running"), job("web-land-1"))
    assert answer(found) == ("Refused", "NothingToMerge")


def test_what_was_cancelled_or_has_ended_is_not_merged_after_all() -> None:
    cancel = Cancel(reason="no").dump()
    assert answer(asked(HELD, REFUSED, cancel=cancel)) == ("Refused", "Cancelled")
    over_now = HELD.model_copy(update={"ended_at": at(0), "phase": "Succeeded"})
    assert answer(asked(over_now, REFUSED)) == ("Refused", "PlanEnded")
