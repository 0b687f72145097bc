"""What people ask of a Task: answered once, and what another round of attempts is."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Pushed
from bernstein.api.plan import PartialDelivery, Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.requests import MOST_ANSWERS, MOST_REQUESTS, TaskRequest
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.controllers.scheduler.watches import plan_matters
from bernstein.core import requests
from bernstein.core.delivery import conflict
from bernstein.core.fsm import may_retry
from bernstein.core.tasks import decide as task_decide
from bernstein.core.waiting import seconds_left
from tests.unit.core import objects, scheduled
from tests.unit.core.delivery.tasks import step
from tests.unit.core.objects import NOW, Object, at, held, sha, status, told, verification


def request(number: int = 1, verb: str = "Retry") -> Object:
    return {"id": f"r-{number}", "verb": verb, "by": "ann", "reason": "the key was wrong"}


def failed(**more: Any) -> TaskStatus:
    """For good, after four attempts."""
    fields: Object = {
        "attempt": 4,
        "sessions": 9,
        "spend_usd": "3.5",
        "infrastructure_failures": 2,
        "gate_errors": 1,
        "ended_at": NOW,
        "feedback": "GateFailed: lint",
    }
    return status(TaskState.FAILED, **(fields | more))


def asked(before: TaskStatus, *wanted: Object, **more: Any) -> TaskStatus:
    """What is decided on these requests."""
    plan = more.pop("plan", None)
    given: Object = {} if plan is None else {"plan": plan}
    subject = objects.task(status=before, requests=list(wanted or (request(),)), **more)
    return task_decide.decide(objects.snapshot(subject, **given), at(60)).status


def in_conflict(plan: Plan | None) -> TaskStatus:
    """As it stalls: without a Plan its merge is also tried again by itself."""
    before = objects.done(
        verification=verification(passed=True),
        delivery=step("Preparing").model_copy(update={"state": "Conflict", "step": None}),
        resolved=True,
    )
    snapshot = objects.snapshot(objects.task(status=before), plan=plan)
    return conflict.stalled(snapshot, before, "in: a.py", "", NOW)


def answers(found: TaskStatus) -> list[tuple[str, str, str]]:
    return [(answer.id, answer.answer, answer.reason) for answer in found.requests or ()]


# --- a round --------------------------------------------------------------------------------------


def test_a_retry_opens_a_failed_task_for_as_many_attempts_as_it_had() -> None:
    found = asked(failed())

    assert found.state is TaskState.OPEN
    assert (found.round and (found.round.number, found.round.since)) == (1, 4)
    last = found.model_copy(update={"attempt": 7})
    assert may_retry(last, 3)
    assert not may_retry(last.model_copy(update={"attempt": 8}), 3)


def test_it_goes_on_counting_and_the_next_attempt_is_told_what_went_wrong() -> None:
    found = asked(failed())

    assert (found.attempt, found.sessions, found.spend_usd) == (4, 9, "3.5")
    assert found.feedback == "GateFailed: lint"
    assert (found.infrastructure_failures, found.gate_errors) == (0, 0)


def test_its_end_is_taken_back() -> None:
    found = asked(failed(waiting=objects.waits("GateFailed", needs_person=True)))

    assert (found.ended_at, found.waiting) == (None, None)
    assert told(found.conditions) == {"Reconciling": ("True", "Retrying")}


def test_who_asked_why_and_when_is_recorded() -> None:
    found = asked(failed())

    (answer,) = found.requests or ()
    assert (answer.id, answer.verb, answer.answer, answer.time) == ("r-1", "Retry", "Done", at(60))
    assert (answer.by, answer.asked) == ("ann", "the key was wrong")
    assert (found.history[-1].actor, found.history[-1].reason) == ("ann", "Retry")


@pytest.mark.parametrize("plan", [None, objects.plan()], ids=["alone", "in a Plan"])
def test_a_task_in_conflict_gets_a_round_and_its_next_attempt_is_told_of_the_conflict(
    plan: Plan | None,
) -> None:
    found = asked(in_conflict(plan), plan=plan)

    assert (found.state, found.resolved, found.waiting) == (TaskState.FAILED, None, None)
    assert (found.history[-1].actor, found.history[-1].reason) == ("ann", "MergeConflict")
    assert answers(found) == [("r-1", "Done", "Retry")]
    again = asked(found, plan=plan)
    assert again.state is TaskState.OPEN
    assert (again.history[-1].actor, again.history[-1].reason) == ("ann", "Retry")
    assert "MergeConflict: in: a.py" in (again.feedback or "")


def test_after_a_second_round_a_third_one_is_counted_as_the_second() -> None:
    once = asked(failed()).model_copy(update={"state": TaskState.FAILED, "attempt": 8})

    found = asked(once, request(), request(2))

    assert found.round is not None
    assert (found.round.number, found.round.since) == (2, 8)


@pytest.mark.parametrize("pushed", [{"taken": sha(5)}, {"holds": True}])
@pytest.mark.parametrize("before", ["failed", "in conflict"])
def test_no_new_attempt_is_paid_for_that_would_lack_what_people_have_pushed(
    before: str, pushed: dict[str, Any]
) -> None:
    found = failed() if before == "failed" else in_conflict(None)
    update = {"branch": "refs/heads/bernstein/work", "sha": sha(4), "pushed": Pushed(**pushed)}
    delivery = (found.delivery or step("Preparing")).model_copy(update=update)
    found = found.model_copy(update={"delivery": delivery})
    after = asked(found)

    assert after.round is None
    assert after.attempt == found.attempt
    assert answers(after) == [("r-1", "Refused", "PushedTo")]
    assert after.requests is not None
    assert after.requests[0].message.startswith("its branch has commits that no agent has made")


# --- once -----------------------------------------------------------------------------------------


def test_a_request_is_answered_once_whatever_comes_later() -> None:
    once = asked(failed())
    again = once.model_copy(update={"state": TaskState.FAILED, "attempt": 8})

    found = asked(again)

    assert found.state is TaskState.FAILED
    assert answers(found) == [("r-1", "Done", "Retry")]


def test_that_an_answered_request_is_gone_changes_nothing() -> None:
    answered = asked(failed(), request(verb="Unblock"))
    assert answers(answered) == [("r-1", "Refused", "NotBlocked")]
    stands = objects.task(status=answered, requests=[request(verb="Unblock")])
    gone = objects.task(status=answered)

    after = task_decide.decide(objects.snapshot(gone), at(120))

    assert after == task_decide.decide(objects.snapshot(stands), at(120))


def test_of_two_requests_at_once_the_second_finds_nothing_to_retry() -> None:
    found = asked(failed(), request(1), request(2))

    assert found.round is not None
    assert found.round.number == 1
    assert answers(found) == [("r-1", "Done", "Retry"), ("r-2", "Refused", "NothingToRetry")]


def test_answers_to_requests_that_are_gone_are_kept_as_long_as_there_is_room() -> None:
    found = failed()
    for number in range(3 * MOST_ANSWERS):
        wanted = TaskRequest.model_validate(request(number))
        found = requests.done(found, (wanted,), wanted, "", NOW)

    ids = [answer.id for answer in found.requests or ()]
    assert ids == [f"r-{n}" for n in range(2 * MOST_ANSWERS, 3 * MOST_ANSWERS)]


def test_answers_to_requests_that_still_stand_are_never_forgotten() -> None:
    standing = [TaskRequest.model_validate(request(n)) for n in range(MOST_REQUESTS)]
    found = failed()
    for one in standing:
        found = requests.done(found, standing, one, "", NOW)
    for number in range(100, 200):
        wanted = TaskRequest.model_validate(request(number))
        found = requests.done(found, (*standing, wanted), wanted, "", NOW)

    assert requests.unanswered(standing, found.requests) == []
    assert len(found.requests or ()) == MOST_ANSWERS


# --- tried at once --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [lambda waits: status(TaskState.OPEN, waiting=waits), lambda w: objects.done(waiting=w)],
)
def test_what_needs_a_person_and_is_tried_later_is_tried_at_once_when_one_says_so(
    make: Any,
) -> None:
    before = make(held("RefNotFound", at(300)).model_copy(update={"needs_person": True}))

    found = asked(before, request(1), request(2))

    assert found.state is before.state
    assert found.waiting is not None
    assert seconds_left(found.waiting, objects.project(), at(60)) is None
    assert found.waiting.tried == before.waiting.tried
    assert (found.round, found.attempt) == (None, before.attempt)
    assert answers(found) == [("r-1", "Done", "Retry"), ("r-2", "Refused", "NothingToRetry")]


def test_the_same_request_lets_it_try_once() -> None:
    waits = held("RefNotFound", at(300)).model_copy(update={"needs_person": True})
    once = asked(status(TaskState.OPEN, waiting=waits))

    found = asked(once.model_copy(update={"waiting": waits}))

    assert found.waiting is not None
    assert found.waiting.until == at(300)


def test_what_a_provider_has_asked_to_wait_for_is_not_tried_sooner() -> None:
    found = asked(status(TaskState.OPEN, waiting=held("RateLimited", at(300))))

    assert answers(found) == [("r-1", "Refused", "NothingToRetry")]


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        status(TaskState.OPEN),
        status(TaskState.CLOSED),
        status(TaskState.FAILED, attempt=1),
        objects.done(),
        objects.done(waiting=held("GateErrored", at(300))),
        objects.with_session(TaskState.CLAIMED),
    ],
)
def test_what_has_not_failed_for_good_is_not_retried(before: TaskStatus) -> None:
    found = asked(before)

    assert found.state is before.state
    assert answers(found) == [("r-1", "Refused", "NothingToRetry")]


def test_what_was_cancelled_is_not_retried() -> None:
    found = asked(failed(), cancel={"reason": "no"})

    assert answers(found) == [("r-1", "Refused", "Cancelled")]
    assert answers(asked(status(TaskState.CANCELLED))) == [("r-1", "Refused", "Cancelled")]


PART = PartialDelivery(request="d-1", after="Failed")


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (objects.plan(cancel={"reason": "no"}), "Cancelled"),
        (objects.plan(status=PlanStatus(phase="Succeeded", ended_at=NOW)), "PlanEnded"),
        (objects.plan(status=PlanStatus(phase="DeliveredPartially", ended_at=NOW)), "PlanEnded"),
        (objects.plan(status=PlanStatus(phase="Delivering", partial=PART)), "BeingDelivered"),
    ],
)
def test_a_task_of_a_plan_that_ended_otherwise_is_not_retried(plan: Any, reason: str) -> None:
    assert answers(asked(failed(), plan=plan)) == [("r-1", "Refused", reason)]


def test_a_task_of_a_plan_that_failed_is_retried() -> None:
    plan = objects.plan(status=PlanStatus(phase="Failed", ended_at=NOW))

    assert asked(failed(), plan=plan).state is TaskState.OPEN


def test_a_verb_of_a_newer_version_is_refused_and_the_work_goes_on() -> None:
    found = asked(failed(), request(1, "Polish"))

    assert found.state is TaskState.FAILED
    assert answers(found) == [("r-1", "Refused", "OperatorTooOld")]


# --- and its Plan ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("known", "waits"), [(None, "PlanStarting"), (1, "PlanEnded")])
def test_it_waits_until_its_plan_that_had_failed_goes_on_with_it(
    known: int | None, waits: str
) -> None:
    row = PlanTask(name="work", stage="build", uid="uid-work", rounds=known)
    over = objects.plan(
        status=PlanStatus(phase="Failed", ended_at=NOW, expanded=True, tasks=(row,))
    )
    again = asked(failed(), plan=over)
    subject = objects.task(status=again)

    found = scheduled.decide(objects.snapshot(subject, plan=over), at(90)).status

    assert found.waiting is not None
    assert (found.state, found.waiting.reason) == (TaskState.OPEN, waits)
    assert found.waiting.needs_person is (waits == "PlanEnded")


def test_a_plan_that_goes_on_again_is_scheduled_anew() -> None:
    over = objects.plan(status=PlanStatus(phase="Failed", ended_at=NOW))
    again = over.model_copy(
        update={"status": over.status.model_copy(update={"ended_at": None, "phase": "Running"})}
    )

    assert plan_matters(over, again)


def test_tasks_are_scheduled_anew_when_a_part_of_their_plan_is_delivered_or_is_not() -> None:
    stalled = objects.plan(status=PlanStatus(phase="Stalled"))
    part = objects.plan(status=PlanStatus(phase="Delivering", partial=PART))

    assert plan_matters(stalled, part)
    assert plan_matters(part, stalled)
