"""A Task that is being deleted, and kept by a finalizer of somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core.actions import TaskDecision
from tests.unit.core import objects
from tests.unit.core.objects import NOW, snapshot, stalled_for, status, told, verification
from tests.unit.core.plans.decisions import CANCEL, again, look
from tests.unit.core.plans.part.parts import ASK, FIRST, accepted, answers, cancels, judged, still
from tests.unit.core.tasks.decisions import decide

FOREIGN = "example.com/archive"
HELD = f"it is being deleted, and kept by the finalizer '{FOREIGN}'"
OVER = (TaskState.CLOSED, TaskState.CANCELLED)
UNFINISHED = [state for state in TaskState if state not in OVER]


def deleted(name: str, found: TaskStatus, *finalizers: str, **spec: Any) -> Task:
    subject = objects.task(name, status=found, **spec)
    meta = {"deletion_timestamp": NOW, "finalizers": finalizers, "generation": 2}
    return subject.model_copy(update={"metadata": subject.metadata.model_copy(update=meta)})


def in_state(state: TaskState | None) -> TaskStatus:
    return status(state, sessions=1, verification=verification(passed=True))


def kept(name: str, state: TaskState = TaskState.IN_PROGRESS, **spec: Any) -> Task:
    """One whose controller has seen what keeps it."""
    return looked_at(deleted(name, in_state(state), FOREIGN, **spec))


def says_who_keeps_it(found: PlanStatus, name: str) -> bool:
    assert told(found.conditions)["Stalled"] == ("True", "DeletionHeld")
    assert found.waiting is not None
    return found.waiting.message.startswith(f"Task '{name}': {HELD}")


def looked_at(subject: Task) -> Task:
    return subject.model_copy(update={"status": decide(snapshot(subject)).status})


@pytest.mark.parametrize("state", UNFINISHED)
def test_what_keeps_it_is_told_and_needs_a_person(state: TaskState) -> None:
    decision = decide(snapshot(deleted("work", in_state(state), "foregroundDeletion", FOREIGN)))

    assert decision.actions == ()
    assert decision.status.state is state
    assert decision.status.observed_generation == 2
    assert stalled_for(decision.status.conditions) == "DeletionHeld"
    waiting = decision.status.waiting
    assert waiting is not None
    assert waiting.message.startswith(HELD)


@pytest.mark.parametrize("state", UNFINISHED)
def test_it_is_told_once(state: TaskState) -> None:
    held = looked_at(deleted("work", in_state(state), FOREIGN))

    assert decide(snapshot(held)) == TaskDecision(held.status)


@pytest.mark.parametrize("state", [None, *TaskState])
def test_what_kubernetes_keeps_itself_goes_by_itself(state: TaskState | None) -> None:
    found = in_state(state)

    assert decide(snapshot(deleted("work", found, "foregroundDeletion"))) == TaskDecision(found)
    assert decide(snapshot(deleted("work", found))) == TaskDecision(found)


@pytest.mark.parametrize("state", OVER)
def test_one_whose_work_is_over_keeps_nobody(state: TaskState) -> None:
    assert decide(snapshot(deleted("work", in_state(state), FOREIGN))).status == in_state(state)


@pytest.mark.parametrize("state", UNFINISHED)
def test_its_plan_stands_still_and_names_the_task_and_the_finalizer(state: TaskState) -> None:
    held = kept("held", state)
    behind = objects.task("behind", status=status(), depends_on=("held",))
    waits = decide(snapshot(behind, others=(held,))).status
    assert waits.waiting is not None
    assert waits.waiting.reason == "DependencyPending"

    found = look(objects.plan(), held, behind.model_copy(update={"status": waits})).status

    assert (found.phase, found.ended_at) == ("Stalled", None)
    assert says_who_keeps_it(found, "held")


def test_its_plan_goes_on_while_another_task_can() -> None:
    held = kept("held", TaskState.OPEN)
    other = objects.task("other", status=status(TaskState.IN_PROGRESS))

    assert look(objects.plan(), held, other).status.phase == "Running"


@pytest.mark.parametrize("state", UNFINISHED)
def test_its_plan_that_is_cancelled_says_so_and_ends_once_it_is_gone(state: TaskState) -> None:
    plan = objects.plan(cancel=CANCEL)
    decision = look(plan, kept("held", state))
    assert cancels(decision) == [("held",)]

    stands = look(again(plan, decision), kept("held", state, cancel=CANCEL))
    assert (stands.status.phase, stands.actions) == ("Cancelling", ())
    assert says_who_keeps_it(stands.status, "held")

    assert look(again(plan, stands)).status.phase == "Cancelled"


@pytest.mark.parametrize("state", UNFINISHED)
def test_its_plan_that_is_delivered_without_it_says_so_and_goes_on_once_it_is_gone(
    state: TaskState,
) -> None:
    plan = accepted(still(FIRST, kept("held", state)), FIRST, kept("held", state))
    decision = look(plan, FIRST, kept("held", state))
    assert cancels(decision) == [("held",)]

    for _ in range(2):
        stands = look(again(plan, decision), FIRST, kept("held", state, cancel=CANCEL))
        assert (stands.status.phase, stands.actions, answers(stands.status)) == ("Stalled", (), [])
        assert says_who_keeps_it(stands.status, "held")
        plan = again(plan, stands)

    goes_on = look(plan, FIRST).status
    assert (goes_on.phase, goes_on.waiting) == ("Delivering", None)
    assert goes_on.verification is not None


def test_one_of_a_part_that_is_judged_already_has_it_judged_anew_once_it_is_gone() -> None:
    """Somebody has raised `maxRetries` of one that had failed: it may have gone on since."""
    held = kept("held", cancel=CANCEL)
    plan = judged(objects.plan(status=still(FIRST, held).status, requests=[ASK]), FIRST)

    plan = again(plan, look(plan, FIRST, held))
    assert says_who_keeps_it(plan.status, "held")
    goes_on = look(plan, FIRST).status

    assert (answers(goes_on), goes_on.phase, goes_on.waiting) == ([], "Delivering", None)
