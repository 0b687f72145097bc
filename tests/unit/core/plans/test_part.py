"""A Plan of which a part is delivered, because somebody asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.pod import FENCE, LandResult
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core import labels
from bernstein.core.actions import (
    AskTask,
    CancelTasks,
    DeleteJobs,
    PlanDecision,
    RunCheck,
    RunFence,
    RunLand,
    RunPrepare,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.delivery.plans import CANDIDATE, INTEGRATION, ONTO, landed, landing, prepared
from tests.unit.core.objects import (
    BASE,
    NOW,
    TIP,
    Object,
    at,
    checked,
    job,
    result_job,
    sha,
    told,
)
from tests.unit.core.plans.decisions import AT_WORK, CANCEL, GIVEN_UP, again, look, task
from tests.unit.core.verification.comparisons import compared

ASK: Object = {"id": "d-1", "verb": "DeliverPartial", "by": "ann", "reason": "it is due"}
RETRY: Object = {"id": "r-1", "verb": "Retry", "by": "ann", "reason": "once more"}
FIRST = landed(1, BASE)
HELD = objects.task(
    "held", status=objects.status(waiting=objects.waits(Reason.MODEL_NOT_FOUND, needs_person=True))
)
STARTED = task("busy", TaskState.IN_PROGRESS)
GONE = task("held", TaskState.CANCELLED)


def over(*tasks: Task, **spec: Any) -> Plan:
    """A Plan that has ended because a Task has failed, with the request."""
    found = look(objects.plan(), *(tasks or (FIRST, GIVEN_UP))).status
    assert (found.phase, found.ended_at) == ("Failed", NOW)
    return objects.plan(status=found, **({"requests": [ASK]} | spec))


def cancelled(**spec: Any) -> Plan:
    """One that was cancelled after a Task had landed."""
    found = look(objects.plan(cancel=CANCEL), FIRST, GONE).status
    assert found.phase == "Cancelled"
    return objects.plan(status=found, **({"cancel": CANCEL, "requests": [ASK]} | spec))


def still(*tasks: Task, **spec: Any) -> Plan:
    """One that stands still, and has not ended."""
    found = look(objects.plan(), *(tasks or (FIRST, HELD))).status
    assert (found.phase, found.ended_at) == ("Stalled", None)
    return objects.plan(status=found, **({"requests": [ASK]} | spec))


def accepted(before: Plan, *tasks: Task, **more: Any) -> Plan:
    """The Plan once the request was seen."""
    decision = look(before, *tasks, **more)
    assert decision.actions == ()
    assert decision.status.partial is not None
    return again(before, decision)


def judged(before: Plan, *tasks: Task, **more: Any) -> Plan:
    """The Plan once it is to be judged."""
    found = accepted(before, *tasks, **more)
    decision = look(found, *tasks, **more)
    assert decision.status.verification is not None
    return again(found, decision)


def passed(before: Plan, *tasks: Task, **more: Any) -> Plan:
    """The Plan whose part has passed, before its landing is written."""
    found = judged(before, *tasks, **more)
    return again(found, look(found, *tasks, jobs=(checked("web-lint-0"),), **more))


def landing_of(before: Plan, *tasks: Task) -> Plan:
    """The Plan whose land Job may be at work."""
    found = passed(before, *tasks)
    found = again(found, look(found, *tasks))
    assert found.status.delivery is not None
    assert found.status.delivery.step == "Landing"
    return found


def answers(status: PlanStatus) -> list[tuple[str, str, str]]:
    return [(answer.id, answer.answer, answer.reason) for answer in status.requests or ()]


def said(status: PlanStatus) -> str:
    (answer,) = status.requests or ()
    return answer.message


def cancels(decision: PlanDecision) -> list[tuple[str, ...]]:
    return [action.names for action in decision.actions if isinstance(action, CancelTasks)]


# --- which Plans ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "tasks", "after"),
    [
        (over(), (FIRST, GIVEN_UP), "Failed"),
        (cancelled(), (FIRST, GONE), "Cancelled"),
        (still(), (FIRST, HELD), "Stalled"),
    ],
)
def test_it_is_written_before_anything_is_done(
    before: Plan, tasks: tuple[Task, ...], after: str
) -> None:
    decision = look(before, *tasks)

    assert decision.actions == ()
    found = decision.status
    assert (found.phase, found.ended_at, found.waiting) == ("Delivering", None, None)
    assert found.partial is not None
    assert (found.partial.request, found.partial.after) == ("d-1", after)
    assert answers(found) == []
    assert "Succeeded" not in told(found.conditions)
    assert told(found.conditions)["Reconciling"] == ("True", "EndingTasks")


def not_at(tip: str) -> Task:
    """A Task that found the integration ref elsewhere than the ledger says."""
    waits = objects.waits(Reason.INTEGRATION_MOVED, needs_person=True)
    return objects.task("moved", status=objects.done(waiting=waits, delivery={"tip": tip}))


@pytest.mark.parametrize(
    ("before", "tasks", "reason"),
    [
        (objects.plan(requests=[ASK]), (FIRST, AT_WORK), "StillMoves"),
        (objects.plan(requests=[ASK]), (FIRST,), "StillMoves"),
        (objects.plan(requests=[ASK]), (FIRST, GIVEN_UP, AT_WORK), "StillMoves"),
        (objects.plan(requests=[ASK]), (GIVEN_UP,), "NothingToDeliver"),
        (objects.plan(requests=[ASK], begun=False), (), "NothingToDeliver"),
        (objects.plan(requests=[ASK], cancel=CANCEL), (FIRST, STARTED), "Cancelled"),
        (over(suspend=True), (FIRST, GIVEN_UP), "Suspended"),
        (still(suspend=True), (FIRST, HELD), "Suspended"),
        (over(), (FIRST, GIVEN_UP, landed(2, sha(9))), "UnknownLanding"),
        (still(FIRST, not_at(TIP)), (FIRST, not_at(TIP)), "IntegrationMoved"),
    ],
)
def test_what_is_refused_says_why_and_nothing_is_done(
    before: Plan, tasks: tuple[Task, ...], reason: str
) -> None:
    decision = look(before, *tasks)

    assert answers(decision.status) == [("d-1", "Refused", reason)]
    assert decision.status.partial is None
    assert not any(isinstance(a, RunCheck | RunLand | RunPrepare) for a in decision.actions)


@pytest.mark.parametrize("phase", ["Succeeded", "DeliveredPartially"])
def test_what_was_delivered_is_not_delivered_in_part(phase: str) -> None:
    found = PlanStatus(observed_generation=1, phase=phase, ended_at=NOW)

    found = look(objects.plan(status=found, requests=[ASK]), FIRST).status

    assert answers(found) == [("d-1", "Refused", "PlanEnded")]
    assert (found.phase, found.ended_at) == (phase, NOW)


def test_a_task_that_changed_nothing_is_nothing_to_deliver() -> None:
    nothing = objects.status(TaskState.CLOSED, delivery=Delivery(state="NoChange"))
    tasks = (objects.task("idle", status=nothing), GIVEN_UP)

    assert answers(look(over(*tasks), *tasks).status) == [("d-1", "Refused", "NothingToDeliver")]


def test_without_its_project_nothing_is_delivered() -> None:
    gone = Diagnosis(Reason.PROJECT_NOT_FOUND, "there is none")

    found = look(over(), FIRST, GIVEN_UP, project=None, project_problem=gone).status

    assert answers(found) == [("d-1", "Refused", "ProjectNotFound")]
    assert found.phase == "Failed"


# --- the other Tasks ------------------------------------------------------------------------------


def test_tasks_that_have_not_ended_are_cancelled_and_waited_for() -> None:
    before = accepted(still(), FIRST, HELD)

    decision = look(before, FIRST, HELD)

    assert cancels(decision) == [("held",)]
    assert decision.status.verification is None
    told_once = HELD.model_copy(
        update={"spec": type(HELD.spec).model_validate(HELD.spec.model_dump() | {"cancel": CANCEL})}
    )
    assert look(before, FIRST, told_once).actions == ()
    assert look(before, FIRST, GONE).status.verification is not None


def test_a_task_that_had_failed_stays_failed() -> None:
    before = accepted(over(), FIRST, GIVEN_UP)

    assert cancels(look(before, FIRST, GIVEN_UP)) == []


def test_what_lands_while_others_end_is_delivered_with_it() -> None:
    before = accepted(still(), FIRST, HELD)
    late = landed(2, sha(1))

    found = look(before, FIRST, late).status

    assert found.verification is not None
    assert found.verification.sha == sha(2)
    assert found.partial is not None
    assert found.partial.tip == sha(2)


# --- judged as a whole ----------------------------------------------------------------------------


def test_the_tip_is_judged_by_every_gate_and_the_signals_of_closed_tasks() -> None:
    wants: Object = {"completionSignals": [{"type": "test_passes", "command": "make first"}]}
    first = objects.task("t1", status=FIRST.status, **wants)
    other: Object = {"completionSignals": [{"type": "test_passes", "command": "make other"}]}
    failed = objects.task("gone-wrong", status=GIVEN_UP.status, **other)
    before = judged(over(first, failed), first, failed)

    decision = look(before, first, failed)

    runs = [action for action in decision.actions if isinstance(action, RunCheck)]
    assert {(run.sha, run.ref) for run in runs} == {(sha(1), INTEGRATION)}
    commands = [run.check.command for run in runs]
    assert any("make first" in str(command) for command in commands)
    assert not any("make other" in str(command) for command in commands)
    assert any(run.check.name == "lint" for run in runs)


def test_what_has_passed_lands_and_the_plan_has_not_succeeded() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    (land,) = look(before, FIRST, GIVEN_UP).actions
    assert land == RunLand("web-land-1", INTEGRATION, sha(1), sha(1001), ONTO, BASE)

    done = result_job("web-land-1", "land", LandResult("Landed", sha(1)))
    found = look(before, FIRST, GIVEN_UP, jobs=(done,), now=60).status

    assert (found.phase, found.ended_at) == ("DeliveredPartially", at(60))
    assert told(found.conditions)["Succeeded"] == ("False", "DeliveredPartially")
    assert not {"Stalled", "Reconciling"} & set(told(found.conditions))
    assert answers(found) == [("d-1", "Done", "DeliverPartial")]
    assert said(found) == "1 of 2 Tasks delivered"
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.sha) == ("Merged", sha(1))
    message = next(c.message for c in found.conditions if c.type == "Succeeded")
    assert message == "1 of 2 Tasks delivered, without gone-wrong"


def test_after_that_nothing_of_it_begins() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    plan = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing(tip=sha(1)),)))
    late = task("gone-wrong", TaskState.OPEN, attempt=4, round={"number": 1, "since": 4})

    decision = look(plan, FIRST, late)

    assert cancels(decision) == [("gone-wrong",)]
    assert decision.status.phase == "DeliveredPartially"


def test_on_a_target_that_moved_a_merge_is_judged_too() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    moved = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing("Moved", TIP),)))
    (prepare,) = look(moved, FIRST, GIVEN_UP).actions
    assert isinstance(prepare, RunPrepare)
    assert prepare.message.startswith("Merge part of plan Better web\n")
    began = again(moved, look(moved, FIRST, GIVEN_UP))
    ready = again(began, look(began, FIRST, GIVEN_UP, jobs=(renamed(prepared(), prepare.job),)))

    (lint,) = look(ready, FIRST, GIVEN_UP).actions

    assert isinstance(lint, RunCheck)
    assert (lint.job, lint.sha, lint.ref) == ("web-lint-1", sha(8), CANDIDATE)


def renamed(subject: JobView, name: str) -> JobView:
    return replace(subject, name=name)


# --- comes to nothing -----------------------------------------------------------------------------

FAILS = (checked("web-lint-0", 1), compared("web-lint-0b"))


def test_what_a_gate_rejects_is_refused_and_the_plan_is_what_it_was() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    held = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    assert held.status.phase == "Stalled"

    found = look(held, FIRST, GIVEN_UP, jobs=FAILS, now=9).status

    assert answers(found) == [("d-1", "Refused", "GateFailed")]
    assert said(found).startswith("nothing was delivered: the Plan's work as a whole")
    assert (found.phase, found.ended_at, found.partial) == ("Failed", at(9), None)
    assert told(found.conditions)["Succeeded"] == ("False", "TaskFailed")
    assert told(found.conditions)["Verified"] == ("False", "GateFailed")
    assert found.verification is not None
    assert [check.verdict for check in found.verification.checks] == ["Failed"]


def test_a_plan_that_stood_still_has_failed_then_since_its_other_tasks_have_ended() -> None:
    before = accepted(still(), FIRST, HELD)
    before = again(before, look(before, FIRST, GONE))
    before = again(before, look(before, FIRST, GONE, jobs=FAILS))

    found = look(before, FIRST, GONE, jobs=FAILS).status

    assert (found.phase, found.ended_at) == ("Failed", NOW)


def test_a_cancelled_plan_is_cancelled_then() -> None:
    before = judged(cancelled(), FIRST, GONE)
    before = again(before, look(before, FIRST, GONE, jobs=FAILS))

    found = look(before, FIRST, GONE, jobs=FAILS).status

    assert (found.phase, found.ended_at) == ("Cancelled", NOW)
    assert answers(found) == [("d-1", "Refused", "GateFailed")]
    assert told(found.conditions)["Succeeded"] == ("False", "Cancelled")


def test_a_conflict_with_the_target_is_refused() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing("Moved", TIP),)))
    before = again(before, look(before, FIRST, GIVEN_UP))
    found = prepared(sha="", tree="", conflicts=("a.py",))
    before = again(before, look(before, FIRST, GIVEN_UP, jobs=(renamed(found, "web-prepare-2"),)))

    status = look(before, FIRST, GIVEN_UP, jobs=(renamed(found, "web-prepare-2"),)).status

    assert answers(status) == [("d-1", "Refused", "MergeConflict")]
    assert "a.py" in said(status)
    assert status.phase == "Failed"


def test_its_jobs_have_ended_before_it_is_refused() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    held = again(before, look(before, FIRST, GIVEN_UP, jobs=FAILS))
    other = job("web-other-0", objects.pod(objects.running("check")))

    decision = look(held, FIRST, GIVEN_UP, jobs=(*FAILS, other))

    assert answers(decision.status) == []
    assert decision.actions == (DeleteJobs((other,)),)


def test_what_is_tried_again_by_itself_is_waited_for() -> None:
    refuses = job("web-land-1", objects.over(objects.failed("land", "CredentialRefused")))
    before = landing_of(over(), FIRST, GIVEN_UP)

    found = again(before, look(before, FIRST, GIVEN_UP, jobs=(refuses,)))

    assert found.status.phase == "Stalled"
    waits = look(found, FIRST, GIVEN_UP, jobs=(refuses,), now=5)
    assert (answers(waits.status), waits.actions) == ([], ())
    tried = look(found, FIRST, GIVEN_UP, jobs=(refuses,), now=400).status
    assert (tried.delivery and tried.delivery.step) == "Landing"


def test_a_project_that_goes_meanwhile_ends_it() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    gone = Diagnosis(Reason.PROJECT_GONE, "it was deleted")

    found = look(before, FIRST, GIVEN_UP, project=None, project_problem=gone).status

    assert answers(found) == [("d-1", "Refused", "ProjectGone")]
    assert found.phase == "Failed"


def test_a_surprise_in_the_ledger_meanwhile_ends_it() -> None:
    before = judged(over(), FIRST, GIVEN_UP)
    strange = landed(2, sha(9))

    decision = look(before, FIRST, GIVEN_UP, strange)
    assert decision.actions == (RunFence("web-lint-0"),)
    fence = job("web-lint-0", labels={labels.JOB: FENCE})
    found = look(again(before, decision), FIRST, GIVEN_UP, strange, jobs=(fence,)).status

    assert answers(found) == [("d-1", "Refused", "UnknownLanding")]


# --- asked again, and asked for something else ----------------------------------------------------


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
