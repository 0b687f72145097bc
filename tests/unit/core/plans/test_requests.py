"""What people ask of a Plan, and how one that had failed goes on."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import NEXT, Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.requests import MOST_REQUESTS
from bernstein.api.states import TaskState
from bernstein.api.task import Round, Task
from bernstein.api.waiting import Cancel, Tried, Waiting
from bernstein.core.actions import AskTask, CancelTasks, RunBegin
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, at, told
from tests.unit.core.plans.decisions import CANCEL, GIVEN_UP, again, look, task

RETRY: Object = {"id": "r-1", "verb": "Retry", "by": "ann", "reason": "once more"}
ON_TASK: Object = RETRY | {"id": "plan-r-1"}


def failed(*tasks: Task, **spec: Any) -> Plan:
    """A Plan that has ended because these Tasks have failed."""
    ended = look(objects.plan(), *tasks).status
    assert (ended.phase, ended.ended_at) == ("Failed", NOW)
    return objects.plan(status=ended, **({"requests": [RETRY]} | spec))


def granted(subject: Task, state: TaskState = TaskState.OPEN) -> Task:
    """The Task once it has answered with another round."""
    done = {"verb": "Retry", "by": "ann", "asked": "once more", "answer": "Done", "time": NOW}
    update: Object = {
        "state": state,
        "round": Round(number=1, since=subject.status.attempt),
        "requests": ({"id": "plan-r-1", "reason": "Retry", **done},),
        "ended_at": None,
    }
    fields = subject.status.model_dump() | update
    found = type(subject.status).model_validate(fields)
    return asked(subject).model_copy(update={"status": found})


def asked(subject: Task) -> Task:
    """The Task once the request was handed on to it."""
    fields = subject.model_dump()
    fields["spec"]["requests"] = [ON_TASK]
    return Task.model_validate(fields)


def answers(status: PlanStatus) -> list[tuple[str, str, str]]:
    return [(answer.id, answer.answer, answer.reason) for answer in status.requests or ()]


def test_a_retry_is_handed_on_to_each_task_that_has_failed_and_answered_by_it() -> None:
    before = failed(GIVEN_UP, task("other", TaskState.CLOSED))

    decision = look(before, GIVEN_UP, task("other", TaskState.CLOSED))

    (ask,) = [action for action in decision.actions if isinstance(action, AskTask)]
    assert (ask.name, [request.dump() for request in ask.requests]) == ("gone-wrong", [ON_TASK])
    assert (decision.status.phase, decision.status.requests) == ("Failed", None)
    waits = look(before, asked(GIVEN_UP))
    assert not [action for action in waits.actions if isinstance(action, AskTask)]
    assert (waits.status.phase, waits.status.requests) == ("Failed", None)


def test_once_its_tasks_have_another_round_the_plan_is_at_work_again() -> None:
    found = look(failed(GIVEN_UP), granted(GIVEN_UP), now=60).status

    assert answers(found) == [("r-1", "Done", "Retry")]
    (answer,) = found.requests or ()
    assert (answer.by, answer.asked) == ("ann", "once more")
    assert (found.phase, found.ended_at, found.waiting) == ("Running", None, None)
    assert told(found.conditions)["Reconciling"] == ("True", "Running")
    assert "Succeeded" not in told(found.conditions)
    assert found.tasks[0].rounds == 1


def test_a_task_that_was_retried_by_itself_takes_its_plan_along() -> None:
    found = look(failed(GIVEN_UP, requests=[]), granted(GIVEN_UP)).status

    assert (found.phase, found.ended_at) == ("Running", None)


def test_a_round_that_fails_too_ends_the_plan_again() -> None:
    revived = again(failed(GIVEN_UP), look(failed(GIVEN_UP), granted(GIVEN_UP)))
    over = granted(GIVEN_UP, TaskState.FAILED)
    spent = over.status.model_copy(update={"attempt": 8, "ended_at": at(90)})

    found = look(revived, over.model_copy(update={"status": spent}), now=90).status

    assert (found.phase, found.ended_at) == ("Failed", at(90))
    assert told(found.conditions)["Succeeded"] == ("False", "TaskFailed")
    still = look(again(revived, look(revived, over)), over.model_copy(update={"status": spent}))
    assert still.status.ended_at is not None


def test_a_plan_that_has_lost_a_task_can_be_retried_with_what_is_left() -> None:
    lost = PlanTask(name="lost", stage="build", uid="u1")
    before = objects.plan(status=PlanStatus(tasks=(lost,), expanded=True), requests=[RETRY])
    ended = again(before, look(before, GIVEN_UP))
    assert (ended.status.phase, ended.status.ended_at) == ("Failed", NOW)

    at_work = look(ended, granted(GIVEN_UP), now=60)
    over = granted(GIVEN_UP, TaskState.CLOSED)
    closed = look(again(ended, at_work), over, now=90).status

    assert answers(at_work.status) == [("r-1", "Done", "Retry")]
    assert (at_work.status.phase, at_work.status.ended_at) == ("Running", None)
    assert (closed.phase, closed.ended_at) == ("Failed", at(90))


def test_a_cache_that_lags_behind_a_round_ends_no_plan() -> None:
    revived = again(failed(GIVEN_UP), look(failed(GIVEN_UP), granted(GIVEN_UP)))

    behind = look(revived, GIVEN_UP)

    assert (behind.status, behind.actions) == (revived.status, ())


def test_a_task_of_the_same_name_that_is_another_one_holds_nothing_up() -> None:
    row = PlanTask(name="gone-wrong", stage="build", uid="another", rounds=3)
    before = objects.plan(status=PlanStatus(tasks=(row,)))

    assert look(before, GIVEN_UP).status.phase == "Failed"


def test_a_retry_of_a_plan_that_has_only_lost_a_task_is_refused_for_that() -> None:
    lost = PlanTask(name="lost", stage="build", uid="u1")
    ended = look(objects.plan(status=PlanStatus(tasks=(lost,), expanded=True))).status
    before = objects.plan(status=ended, requests=[RETRY])

    found = look(before).status

    assert answers(found) == [("r-1", "Refused", "TaskDeleted")]
    (answer,) = found.requests or ()
    assert answer.message == "Task 'lost' was deleted, and is not made again"
    assert found.phase == "Failed"


def test_a_retry_beside_a_deleted_task_says_that_the_plan_ends_without_it() -> None:
    lost = PlanTask(name="lost", stage="build", uid="u1")
    before = objects.plan(status=PlanStatus(tasks=(lost,), expanded=True), requests=[RETRY])
    ended = again(before, look(before, GIVEN_UP))

    (answer,) = look(ended, granted(GIVEN_UP), now=60).status.requests or ()

    assert answer.answer == "Done"
    assert "1 Task is tried again" in answer.message
    assert "Task 'lost' was deleted, and is not made again" in answer.message


def test_a_task_that_is_not_in_the_cache_yet_was_not_deleted() -> None:
    new = PlanTask(name="new", stage="build")
    before = objects.plan(status=PlanStatus(tasks=(new,), expanded=True), requests=[RETRY])

    assert answers(look(before, task()).status) == [("r-1", "Refused", "NothingToRetry")]


def later(reason: str, **more: Any) -> Waiting:
    """Waiting for a person until the next try, five minutes from NOW."""
    tried = Tried(reason=reason, generation=1)
    return Waiting(reason=reason, since=NOW, until=at(300), needs_person=True, tried=tried, **more)


def test_a_plan_that_is_to_begin_later_tries_at_once() -> None:
    waits = later("RefNotFound")
    before = PlanStatus(expanded=True, phase="Stalled", waiting=waits, beginning=NEXT)

    found = look(objects.plan(begun=False, status=before, requests=[RETRY]), task(), now=60)

    assert answers(found.status) == [("r-1", "Done", "Retry")]
    assert [action.job for action in found.actions if isinstance(action, RunBegin)]
    assert not look(objects.plan(begun=False, status=before), task(), now=60).actions


def test_a_retry_is_handed_on_to_a_task_that_waits_for_a_person_until_its_next_try() -> None:
    waits = task("waits", waiting=later("ImagePullFailed"))

    decision = look(objects.plan(requests=[RETRY]), waits, task("open"), now=60)

    (ask,) = [action for action in decision.actions if isinstance(action, AskTask)]
    assert ask.name == "waits"


def test_a_plan_without_a_failed_task_has_nothing_to_retry() -> None:
    found = look(objects.plan(requests=[RETRY]), task()).status

    assert answers(found) == [("r-1", "Refused", "NothingToRetry")]
    assert found.phase == "Running"


@pytest.mark.parametrize(
    ("phase", "cancel", "reason"),
    [("Succeeded", None, "PlanEnded"), ("Cancelled", CANCEL, "Cancelled")],
)
def test_a_plan_that_ended_otherwise_is_not_retried(
    phase: str, cancel: Object | None, reason: str
) -> None:
    ended = PlanStatus(observed_generation=1, phase=phase, ended_at=NOW)
    spec: Object = {} if cancel is None else {"cancel": cancel}

    found = look(objects.plan(status=ended, requests=[RETRY], **spec), GIVEN_UP)

    assert answers(found.status) == [("r-1", "Refused", reason)]
    assert (found.status.phase, found.status.ended_at) == (phase, NOW)


def test_a_verb_of_a_newer_version_is_refused() -> None:
    found = look(objects.plan(requests=[RETRY | {"verb": "Polish"}]), task()).status

    assert answers(found) == [("r-1", "Refused", "OperatorTooOld")]


def test_where_a_task_has_no_room_for_a_request_an_answered_one_goes() -> None:
    full = [RETRY | {"id": f"mine-{n}"} for n in range(MOST_REQUESTS)]
    answer = {"verb": "Retry", "by": "ann", "asked": "x", "answer": "Refused", "time": NOW}
    known = GIVEN_UP.model_dump()
    known["spec"]["requests"] = full
    known["status"]["requests"] = [{"id": "mine-3", "reason": "NothingToRetry", **answer}]

    decision = look(failed(GIVEN_UP), Task.model_validate(known))

    (ask,) = [action for action in decision.actions if isinstance(action, AskTask)]
    ids = [request.id for request in ask.requests]
    assert len(ids) == MOST_REQUESTS
    assert ("mine-3" in ids, ids[-1]) == (False, "plan-r-1")


def test_a_request_that_is_answered_and_gone_from_its_task_is_not_handed_on_again() -> None:
    refused: Object = {"id": "plan-r-1", "answer": "Refused", "reason": "NothingToRetry"}
    refused |= {"verb": "Retry", "by": "ann", "asked": "once more", "time": NOW}
    known = GIVEN_UP.model_dump()
    known["status"]["requests"] = [refused]

    decision = look(failed(GIVEN_UP), Task.model_validate(known))

    assert not [action for action in decision.actions if isinstance(action, AskTask)]
    assert answers(decision.status) == [("r-1", "Refused", "NothingToRetry")]


def test_a_task_that_got_a_round_while_its_plan_was_cancelled_is_cancelled_late() -> None:
    ended = PlanStatus(observed_generation=1, phase="Cancelled", ended_at=NOW)

    decision = look(objects.plan(status=ended, cancel=CANCEL), task("busy"))

    assert CancelTasks(("busy",), Cancel(reason="not needed")) in decision.actions


def test_the_longest_name_of_a_request_is_handed_on() -> None:
    longest = RETRY | {"id": "r" * 50}

    decision = look(failed(GIVEN_UP, requests=[longest]), GIVEN_UP)

    (ask,) = [action for action in decision.actions if isinstance(action, AskTask)]
    assert ask.requests[-1].id == "plan-" + "r" * 50


def test_a_plan_that_failed_says_how_it_goes_on_and_how_to_have_what_has_landed() -> None:
    landed = objects.task("first", status=objects.closed(3), stage="build")

    found = look(objects.plan(), landed, GIVEN_UP).status

    assert found.waiting is not None
    assert "another round: `bernstein retry web`." in found.waiting.message
    fetch = "git fetch https://git.example/app.git refs/bernstein/1111222233334444/integration"
    assert found.waiting.message.endswith(f"What has landed: {fetch}")
    assert (
        "git fetch" not in (look(objects.plan(), GIVEN_UP).status.waiting or found.waiting).message
    )


def test_a_plan_whose_task_was_cancelled_is_not_told_to_retry() -> None:
    found = look(objects.plan(), task("gone", TaskState.CANCELLED)).status

    assert found.waiting is not None
    assert parted(found.waiting.message)[1] == "Apply a Plan with what is left, under another name."


FORGED: Object = ON_TASK | {"by": "eve", "reason": "nothing"}


def forged(subject: Task, *own: Object, answered: bool) -> Task:
    """The Task with somebody else's request, under the id that its Plan's would have."""
    fields = subject.model_dump()
    fields["spec"]["requests"] = [FORGED, *own]
    if answered:
        answer = {"verb": "Retry", "by": "eve", "asked": "nothing", "time": NOW}
        refused = {"id": "plan-r-1", "answer": "Refused", "reason": "NothingToRetry"}
        fields["status"]["requests"] = [{**answer, **refused}]
    return Task.model_validate(fields)


@pytest.mark.parametrize("answered", [False, True])
def test_what_somebody_else_asked_of_a_task_is_no_answer_to_what_a_plan_was_asked(
    answered: bool,
) -> None:
    found = look(failed(GIVEN_UP), forged(GIVEN_UP, answered=answered))

    (ask,) = [action for action in found.actions if isinstance(action, AskTask)]
    handed_on = RETRY | {"id": "plan-r-1-2"}
    assert [request.dump() for request in ask.requests] == [FORGED, handed_on]
    assert found.status.requests is None
    waits = look(failed(GIVEN_UP), forged(GIVEN_UP, handed_on, answered=answered))
    assert not [action for action in waits.actions if isinstance(action, AskTask)]
    assert waits.status.requests is None


def test_what_a_plan_was_asked_is_answered_by_its_own_request_whatever_else_was_asked() -> None:
    fields = forged(granted(GIVEN_UP), answered=True).model_dump()
    own = granted(GIVEN_UP).model_dump()["status"]["requests"][0] | {"id": "plan-r-1-2"}
    fields["status"]["requests"] = [*fields["status"]["requests"], own]

    found = look(failed(GIVEN_UP), Task.model_validate(fields)).status

    assert answers(found) == [("r-1", "Done", "Retry")]
