"""A gate that fails on the base, too: siblings may have yet to land what it needs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import RunCheck, RunPrepare, TaskDecision
from bernstein.core.fsm import move
from bernstein.core.plans.standstill import watch
from bernstein.core.scheduling.landing_turns import turns
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, checked, done, snapshot, stalled_for
from tests.unit.core.waits import waits

OWN = {"name": "own", "command": "make test", "image": "own:1"}
OFF = ({"name": "lint", "enabled": False}, {"name": "pii_scan", "enabled": False})


def ruled(generation: int = 1, **more: Any) -> Any:
    return objects.project(generation=generation, gates={"pipeline": [OWN, *OFF]}, **more)


RED = (checked("work-s1-own-0", 1), checked("work-s1-own-0b", 1))


def at_work(name: str, state: TaskState = TaskState.IN_PROGRESS, claimed: float = -30) -> Task:
    found = move(objects.status(), TaskState.CLAIMED, "Scheduled", at(claimed))
    return objects.task(name, status=found.model_copy(update={"state": state}))


def landed(name: str = "writer") -> Task:
    return objects.task(name, status=objects.closed(7))


def look(status: TaskStatus, *others: Task, now: datetime = NOW, **more: Any) -> TaskDecision:
    known = {"project": ruled(), "jobs": RED} | more
    return decide(snapshot(objects.task(status=status), others=others, **known), now)


def reason(status: TaskStatus) -> str | None:
    return status.waiting.reason if status.waiting is not None else None


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS, TaskState.DONE])
def test_it_waits_for_those_that_are_at_work_beside_it(state: TaskState) -> None:
    found = look(done(), at_work("writer", state)).status

    assert (found.state, reason(found), found.attempt) == ("Done", "SiblingsAtWork", 1)
    assert stalled_for(found.conditions) is None
    assert found.waiting is not None
    assert "writer" in found.waiting.message
    assert "'own' fails on the commit before this work, so" in found.waiting.message


def test_it_goes_on_to_wait_without_running_anything() -> None:
    waiting = look(done(), at_work("writer")).status

    later = look(waiting, at_work("writer"), now=at(600))

    assert (later.actions, later.status) == ((), waiting)


def test_once_they_have_landed_its_work_is_put_on_the_new_tip_and_judged_there() -> None:
    waiting = look(done(), at_work("writer")).status

    asks = look(waiting, landed(), now=at(60)).status
    assert reason(asks) == "MergeQueue"
    ((_, turn),) = turns([objects.task(status=asks)], at(61), lambda _: "app")
    prepares = look(turn, landed(), now=at(62))
    made = look(prepares.status, landed(), now=at(63))

    assert [type(a) for a in (*prepares.actions, *made.actions)][:1] == [RunPrepare]
    assert made.status.state is TaskState.DONE
    assert made.status.attempt == 1


def test_what_landed_before_it_was_judged_counts_as_well() -> None:
    found = look(done(), landed()).status

    assert reason(found) == "MergeQueue"


def test_where_nobody_is_at_work_and_nothing_has_landed_it_stands_still() -> None:
    found = look(done()).status

    assert stalled_for(found.conditions) == "BaseFails"


def test_where_they_end_without_landing_it_stands_still_and_says_why() -> None:
    waiting = look(done(), at_work("writer")).status
    failed = objects.task("writer", status=objects.status(TaskState.FAILED, attempt=9))

    found = look(waiting, failed, now=at(60)).status

    assert stalled_for(found.conditions) == "BaseFails"
    assert found.waiting is not None
    assert "gates.allowBaseFailures" in found.waiting.message
    assert look(found, failed, now=at(90)).status == found


def test_who_began_later_is_not_waited_for_but_what_it_lands_counts() -> None:
    stalled = look(done()).status

    assert look(stalled, at_work("later", claimed=10), now=at(60)).status == stalled
    assert reason(look(stalled, landed("later"), now=at(90)).status) == "MergeQueue"


def test_two_never_wait_for_each_other() -> None:
    other = objects.task(
        "other",
        status=move(objects.status(), TaskState.CLAIMED, "Scheduled", at(-30)).model_copy(
            update={"state": TaskState.DONE, "waiting": waits("SiblingsAtWork")}
        ),
    )

    assert stalled_for(look(done(), other).status.conditions) == "BaseFails"


def test_those_of_another_plan_or_that_stand_still_are_not_waited_for() -> None:
    moved = move(objects.status(), TaskState.CLAIMED, "Scheduled", at(-30))
    elsewhere = objects.task("elsewhere", plan="two", status=moved)
    stuck = objects.task(
        "stuck",
        status=moved.model_copy(update={"waiting": waits("SecretNotFound", needs_person=True)}),
    )

    assert stalled_for(look(done(), elsewhere, stuck).status.conditions) == "BaseFails"


def test_a_task_without_a_plan_stands_still() -> None:
    alone = objects.task(plan=None, status=done())
    beside = at_work("writer")

    found = decide(snapshot(alone, others=(beside,), project=ruled(), jobs=RED), NOW).status

    assert stalled_for(found.conditions) == "BaseFails"


def test_a_changed_project_lets_it_be_judged_again_at_once() -> None:
    waiting = look(done(), at_work("writer")).status

    again = look(waiting, at_work("writer"), project=ruled(generation=2), now=at(60))

    assert [a.job for a in again.actions if isinstance(a, RunCheck)] == ["work-s1-own-1"]


def test_who_has_the_turn_gives_it_up_while_it_waits() -> None:
    """Else those that it waits for would wait for it."""
    judged = objects.verification(candidate=True, round=3, first_round=3)
    turn = Delivery(state="Pending", onto=objects.snapshot(objects.task()).target_ref)
    turn = turn.model_copy(update={"step": "Preparing", "round": 1})
    ends = checked("work-s1-own-3", 1), checked("work-s1-own-3b", 1)
    writer = at_work("writer", TaskState.DONE)

    found = look(done(verification=judged, delivery=turn), writer, jobs=ends).status

    assert reason(found) == "SiblingsAtWork"
    assert found.delivery is not None
    assert found.delivery.step is None


def test_a_plan_with_such_a_task_moves() -> None:
    waiting = objects.task(status=look(done(), at_work("writer")).status)
    plan = objects.plan()

    found = watch(objects.plan_snapshot(plan, waiting, at_work("writer")), plan.status, NOW)

    assert found.phase == "Running"


# --- mended on the branch -------------------------------------------------------------------------


def ask(verb: str, status: TaskStatus, plan: str | None, now: datetime) -> TaskDecision:
    wanted = {"id": "r-1", "verb": verb, "by": "ann", "reason": "mended"}
    subject = objects.task(plan=plan, status=status, requests=[wanted])
    return decide(snapshot(subject, project=ruled(), jobs=RED), now)


def stalled(plan: str | None) -> TaskStatus:
    subject = objects.task(plan=plan, status=done())
    return decide(snapshot(subject, project=ruled(), jobs=RED), NOW).status


def test_a_retry_puts_its_work_on_the_branch_as_it_is_now_and_judges_it_there() -> None:
    found = ask("Retry", stalled(None), None, at(60)).status

    (answer,) = found.requests or ()
    assert (answer.answer, answer.reason) == ("Done", "Retry")
    assert answer.message == "the same work is judged on the branch as it is now"
    assert (found.state, found.attempt, found.round) == (TaskState.DONE, 1, None)
    asks = ask("Retry", found, None, at(61)).status
    assert reason(asks) == "MergeQueue"
    ((_, turn),) = turns([objects.task(plan=None, status=asks)], at(62), lambda _: "app")
    prepares = ask("Retry", turn, None, at(63)).actions
    (prepare,) = (action for action in prepares if isinstance(action, RunPrepare))
    assert (prepare.sha, prepare.onto) == (objects.HEAD, "refs/heads/main")


def test_asked_twice_at_once_the_work_is_put_there_once() -> None:
    found = ask("Retry", stalled(None), None, at(60)).status
    again = [{"id": f"r-{n}", "verb": "Retry", "by": "ann", "reason": "mended"} for n in (1, 2)]

    subject = objects.task(plan=None, status=found, requests=again)
    after = decide(snapshot(subject, project=ruled(), jobs=RED), at(61)).status

    assert [a.reason for a in after.requests or ()] == ["Retry", "NothingToRetry"]


@pytest.mark.parametrize(
    ("verb", "plan"), [("Retry", "web"), ("Remerge", "web"), ("Remerge", None)]
)
def test_what_would_help_nothing_is_refused_for_what_it_stalls_for(
    verb: str, plan: str | None
) -> None:
    before = stalled(plan)

    found = ask(verb, before, plan, at(60)).status

    (answer,) = found.requests or ()
    assert (answer.answer, answer.reason) == ("Refused", "BaseFails")
    assert "'own' fails on the commit before this work" in answer.message
    assert (found.state, found.waiting) == (TaskState.DONE, before.waiting)
