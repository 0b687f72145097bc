"""What else is asked of a Plan while a part of it is delivered, or before, or after."""

from __future__ import annotations

from datetime import timedelta

from bernstein.api.plan import Plan
from bernstein.api.pod import FENCE
from bernstein.api.states import TaskState
from bernstein.core import labels
from bernstein.core.actions import (
    AskTask,
    RunCheck,
    RunFence,
    RunPrepare,
)
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.delivery.plans import landed, landing, prepared
from tests.unit.core.objects import (
    NOW,
    job,
    sha,
    told,
)
from tests.unit.core.plans.decisions import CANCEL, GIVEN_UP, again, look, task
from tests.unit.core.plans.part.parts import (
    ASK,
    FAILS,
    FIRST,
    GONE,
    RETRY,
    accepted,
    answers,
    cancelled,
    judged,
    landing_of,
    over,
    renamed,
    said,
)


def test_what_was_refused_can_be_asked_for_again_and_is_judged_by_new_jobs() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    requests = (*before.spec.requests, before.spec.requests[0].model_copy(update={"id": "d-2"}))
    second = before.model_copy(
        update={"spec": before.spec.model_copy(update={"requests": requests})}
    )

    second = judged(second, FIRST, GIVEN_UP, jobs=FAILS)

    (lint,) = look(second, FIRST, GIVEN_UP, jobs=FAILS).actions
    assert isinstance(lint, RunCheck)
    assert lint.job == "web-lint-1"


def test_a_second_request_is_refused_while_the_first_one_is_on_its_way() -> None:
    before = accepted(over(), FIRST, GIVEN_UP)
    asked = (*before.spec.requests, before.spec.requests[0].model_copy(update={"id": "d-2"}))
    before = before.model_copy(update={"spec": before.spec.model_copy(update={"requests": asked})})

    found = look(before, FIRST, GIVEN_UP).status

    assert answers(found) == [("d-2", "Refused", "BeingDelivered")]
    assert found.partial is not None


def test_a_retry_is_refused_while_a_part_is_delivered() -> None:
    before = accepted(over(requests=[ASK]), FIRST, GIVEN_UP)
    both = objects.plan(status=before.status, requests=[RETRY, ASK])

    decision = look(both, FIRST, GIVEN_UP)

    assert answers(decision.status) == [("r-1", "Refused", "BeingDelivered")]
    assert not any(isinstance(action, AskTask) for action in decision.actions)


def test_it_waits_for_the_retry_that_was_asked_for_before_it() -> None:
    decision = look(over(requests=[RETRY, ASK]), FIRST, GIVEN_UP)

    assert any(isinstance(action, AskTask) for action in decision.actions)
    assert (answers(decision.status), decision.status.partial) == ([], None)


def test_a_retry_after_it_was_refused_takes_the_plan_on_and_judges_all_of_it_anew() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    granted = task("gone-wrong", TaskState.OPEN, attempt=4, round={"number": 1, "since": 4})
    revived = again(before, look(before, FIRST, granted, jobs=FAILS))
    assert revived.status.phase == "Running"
    second = landed(2, sha(1)).status.model_copy(update={"round": granted.status.round})
    done = objects.task("gone-wrong", status=second)

    begun = again(revived, look(revived, FIRST, done, jobs=FAILS))
    (prepare,) = look(begun, FIRST, done, jobs=FAILS).actions

    assert isinstance(prepare, RunPrepare)
    assert prepare.sha == sha(2)
    made = renamed(prepared(), prepare.job)
    ready = look(begun, FIRST, done, jobs=(*FAILS, made)).status
    assert ready.verification is not None
    assert (ready.verification.sha, ready.verification.round) == (sha(8), 2)


def test_a_cancel_meanwhile_ends_it_and_nothing_lands() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    stopping = before.model_copy(update={"spec": objects.plan(requests=[ASK], cancel=CANCEL).spec})

    decision = look(stopping, FIRST, GIVEN_UP)
    assert decision.actions == (RunFence("web-lint-0"),)
    fence = job("web-lint-0", labels={labels.JOB: FENCE})
    found = look(again(stopping, decision), FIRST, GIVEN_UP, jobs=(fence,)).status

    assert (found.phase, found.partial) == ("Cancelled", None)
    assert answers(found) == [("d-1", "Refused", "Cancelled")]


def test_a_cancel_that_comes_when_it_lands_is_too_late() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    stopping = before.model_copy(update={"spec": objects.plan(requests=[ASK], cancel=CANCEL).spec})

    found = look(stopping, FIRST, GIVEN_UP, jobs=(landing(tip=sha(1)),)).status

    assert found.phase == "DeliveredPartially"
    assert told(found.conditions)["CancelRefused"] == ("True", "MergeInProgress")
    assert answers(found) == [("d-1", "Done", "DeliverPartial")]


def ended_before(plan: Plan, seconds: int) -> Plan:
    ended = plan.status.model_copy(update={"ended_at": NOW - timedelta(seconds=seconds)})
    return plan.model_copy(update={"status": ended})


def test_one_whose_refs_are_deleted_by_now_is_not() -> None:
    kept = objects.project().spec.retention.refs_seconds

    found = look(ended_before(cancelled(), kept), FIRST, GONE).status

    assert (found.phase, found.partial) == ("Cancelled", None)
    assert answers(found) == [("d-1", "Refused", "NothingToDeliver")]
    assert "retention.refsSeconds" in said(found)
    assert accepted(ended_before(cancelled(), kept - 1), FIRST, GONE)
    assert accepted(ended_before(over(), kept), FIRST, GIVEN_UP), "what has failed keeps its refs"


def test_a_cancelled_plan_is_delivered_in_part_when_that_is_asked_for_afterwards() -> None:
    before = landing_of(cancelled(), FIRST, GONE)

    found = look(before, FIRST, GONE, jobs=(landing(tip=sha(1)),)).status

    assert found.phase == "DeliveredPartially"
    assert answers(found) == [("d-1", "Done", "DeliverPartial")]


def test_suspended_it_rests_and_goes_on_when_it_is_resumed() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    resting = before.model_copy(update={"spec": before.spec.model_copy(update={"suspend": True})})

    rests = look(resting, FIRST, GIVEN_UP)
    assert rests.actions == ()
    assert rests.status.phase == "Suspended"

    (lint,) = look(again(resting, rests, suspend=False), FIRST, GIVEN_UP).actions
    assert isinstance(lint, RunCheck)


def test_a_landing_that_has_begun_is_followed_to_its_end_though_it_is_suspended() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    resting = before.model_copy(update={"spec": before.spec.model_copy(update={"suspend": True})})

    found = look(resting, FIRST, GIVEN_UP, jobs=(landing(tip=sha(1)),)).status

    assert found.phase == "DeliveredPartially"
    assert "Suspended" not in told(found.conditions)


def test_a_plan_that_failed_tells_that_what_has_landed_can_be_delivered() -> None:
    found = look(objects.plan(), FIRST, GIVEN_UP).status

    assert found.waiting is not None
    assert "`bernstein deliver web --partial`" in (parted(found.waiting.message)[1] or "")
    bare = look(objects.plan(), GIVEN_UP).status
    assert bare.waiting is not None
    assert "--partial" not in bare.waiting.message
