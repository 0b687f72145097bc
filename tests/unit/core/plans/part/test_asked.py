"""Which Plans may be delivered in part, and what becomes of their other Tasks."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.actions import (
    RunCheck,
    RunLand,
    RunPrepare,
)
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.plans import part
from tests.unit.core import objects, scheduled
from tests.unit.core.delivery.plans import landed, landing
from tests.unit.core.objects import (
    NOW,
    TIP,
    sha,
    snapshot,
    told,
)
from tests.unit.core.plans.decisions import AT_WORK, CANCEL, GIVEN_UP, again, look, task
from tests.unit.core.plans.part.parts import (
    ASK,
    FIRST,
    GONE,
    HELD,
    STARTED,
    accepted,
    answers,
    bereft,
    cancelled,
    cancels,
    handed_on,
    landing_of,
    over,
    said,
    still,
    taken_out,
)


@pytest.mark.parametrize(
    ("before", "tasks", "after"),
    [
        (over(), (FIRST, GIVEN_UP), "Failed"),
        (bereft(), (FIRST,), "Failed"),
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


@pytest.mark.parametrize(
    ("before", "tasks", "reason"),
    [
        (objects.plan(), (FIRST, AT_WORK), "StillMoves"),
        (objects.plan(), (FIRST,), "StillMoves"),
        (objects.plan(), (GIVEN_UP,), "NothingToDeliver"),
        (objects.plan(cancel=CANCEL), (FIRST, STARTED), "Cancelled"),
        (still(suspend=True, requests=[]), (FIRST, HELD), "Suspended"),
        (still(requests=[]), (FIRST, HELD), None),
        (over(requests=[]), (FIRST, GIVEN_UP), None),
        (cancelled(requests=[]), (FIRST, GONE), None),
        (still(FIRST, not_at(TIP), requests=[]), (FIRST, not_at(TIP)), None),
    ],
)
def test_before_it_is_asked_for_the_plan_alone_shows_what_would_be_said_of_it(
    before: Plan, tasks: tuple[Task, ...], reason: str | None
) -> None:
    known = again(before, look(before, *tasks))
    older = known.metadata.model_copy(update={"generation": 2})

    why = part.shown_why_not(known)

    assert (why[0] if why else None) == reason
    assert part.shown_why_not(known.model_copy(update={"metadata": older})) is None


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


def test_what_ends_them_is_the_decision_of_who_asked() -> None:
    decision = look(accepted(still(), FIRST, HELD), FIRST, HELD)

    assert handed_on(decision).by == ASK["by"]
    told_so = objects.task(status=HELD.status, cancel=handed_on(decision).dump())
    ended = scheduled.decide(snapshot(told_so), NOW).status
    assert (ended.state, ended.history[-1].actor) == (TaskState.CANCELLED, "ann")


def test_it_is_known_who_asked_once_the_request_was_answered_and_taken_out() -> None:
    before = landing_of(over(), FIRST, GIVEN_UP)
    answered = again(before, look(before, FIRST, GIVEN_UP, jobs=(landing(tip=sha(1)),)))
    late = task("gone-wrong", TaskState.OPEN, attempt=4, round={"number": 1, "since": 4})

    assert handed_on(look(taken_out(answered), FIRST, late)).by == ASK["by"]


def test_of_a_request_that_was_taken_out_meanwhile_nobody_is_named() -> None:
    asked = taken_out(accepted(still(), FIRST, HELD))

    assert handed_on(look(asked, FIRST, HELD)).by == "operator"


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


def test_a_cancel_that_came_after_the_plan_had_failed_does_not_end_it() -> None:
    asked = accepted(over(cancel=CANCEL), FIRST, GIVEN_UP)

    found = look(asked, FIRST, GIVEN_UP).status

    assert (found.phase, found.ended_at) == ("Delivering", None)
    assert found.partial is not None


def test_what_waits_for_a_persons_decision_is_not_said_to_go_on_by_itself() -> None:
    pending = objects.status(TaskState.PENDING_APPROVAL, waiting=objects.waits("AwaitingApproval"))
    asks = objects.task("asks", status=pending)
    before = objects.plan(requests=[ASK])

    decision = look(before, FIRST, asks)

    shown = part.shown_why_not(again(objects.plan(), look(objects.plan(), FIRST, asks)))
    assert answers(decision.status) == [("d-1", "Refused", "StillMoves")]
    assert shown == ("StillMoves", said(decision.status))
    assert said(decision.status) == (
        "it goes on once a person has decided. "
        "Remedy: decide what `bernstein pending` lists, or cancel it first"
    )
