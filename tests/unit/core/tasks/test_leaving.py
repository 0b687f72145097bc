"""A Task that is being deleted, and kept by a finalizer of somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.plan import PlanStatus
from bernstein.api.pod import FENCE
from bernstein.api.states import TaskState
from bernstein.api.task import Task, TaskStatus
from bernstein.core import labels
from bernstein.core.actions import RunFence, RunLand, TaskDecision
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.tasks.leaving import HELD_SECONDS
from bernstein.core.waiting import parted
from tests.unit.core import objects, scheduled
from tests.unit.core.delivery.tasks import LANDING, landed, prepared, step, verified
from tests.unit.core.objects import (
    NOW,
    at,
    ended,
    job,
    over,
    running,
    snapshot,
    stalled_for,
    status,
    told,
    verification,
)
from tests.unit.core.plans.decisions import CANCEL, again, look
from tests.unit.core.plans.part.parts import ASK, FIRST, accepted, answers, cancels, judged, still
from tests.unit.core.tasks.decisions import decide

LAND = "work-s1-land-1"
GONE = Diagnosis("ProjectGone", "Project 'default' was deleted")
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

    assert decide(snapshot(deleted("work", found, "foregroundDeletion"))).status == found
    assert decide(snapshot(deleted("work", found))) == TaskDecision(found)


@pytest.mark.parametrize("state", [None, *UNFINISHED])
def test_what_kubernetes_keeps_for_longer_than_a_pod_takes_to_end_is_told(
    state: TaskState | None,
) -> None:
    subject = snapshot(
        deleted("work", in_state(state), "foregroundDeletion"),
        own_sessions=(objects.session(2), objects.session()),
        jobs=(job(LAND),),
    )
    before = scheduled.decide(subject, at(HELD_SECONDS - 30))
    assert (before.actions, before.requeue_after) == ((), 31)
    assert stalled_for(before.status.conditions) is None

    decision = scheduled.decide(subject, at(HELD_SECONDS + 1))

    assert (decision.actions, decision.status.state) == ((), state)
    assert stalled_for(decision.status.conditions) == "DeletionHeld"
    assert decision.status.waiting is not None
    text, remedy = parted(decision.status.waiting.message)
    assert "'foregroundDeletion' until what it owns is gone" in text
    assert "AgentSession 'work-s1', AgentSession 'work-s2', Job 'work-s1-land-1'" in text
    assert "kubectl get bsess,jobs,pods" in (remedy or "")


@pytest.mark.parametrize("ask", [{}, {"cancel": CANCEL}], ids=["at work", "cancelled"])
def test_a_plan_says_what_kubernetes_keeps(ask: Any) -> None:
    found = deleted("held", in_state(TaskState.IN_PROGRESS), "foregroundDeletion", **ask)
    status = scheduled.decide(snapshot(found), at(HELD_SECONDS + 1)).status
    plan = objects.plan(**ask)

    stands = look(plan, found.model_copy(update={"status": status})).status

    assert told(stands.conditions)["Stalled"] == ("True", "DeletionHeld")
    assert stands.waiting is not None
    assert "Task 'held': it is being deleted" in stands.waiting.message


# --- what may be landing --------------------------------------------------------------------------

KEEPERS = pytest.mark.parametrize("keeper", [FOREIGN, "foregroundDeletion"])


def lands(keeper: str, *jobs: JobView, delivery: Delivery = LANDING) -> TaskDecision:
    """The next step of one that was deleted when its work had begun to land."""
    return decide(snapshot(deleted("work", verified(delivery), keeper), jobs=jobs))


@KEEPERS
def test_what_has_landed_by_then_is_written_down(keeper: str) -> None:
    found = lands(keeper, landed()).status

    assert found.state is TaskState.CLOSED
    assert found.delivery is not None
    assert (found.delivery.state, found.delivery.sha) == ("Merged", objects.HEAD)
    assert told(found.conditions)["Succeeded"] == ("True", "Closed")


@KEEPERS
def test_while_it_lands_it_says_so_and_not_that_it_does_not_go_on(keeper: str) -> None:
    waits = lands(keeper, job(LAND, objects.pod(running("land"))))

    assert (waits.actions, waits.requeue_after) == ((), LOOK_AGAIN_SECONDS)
    assert waits.status.waiting is None
    assert told(waits.status.conditions)["Reconciling"] == ("True", "Landing")


@KEEPERS
def test_a_job_that_may_have_pushed_is_followed_by_one_that_only_reads(keeper: str) -> None:
    first = lands(keeper, job(LAND, over(ended("land", code=137), phase="Failed"))).status
    assert first.delivery is not None
    assert first.delivery.may_have_landed is True

    (reads,) = lands(keeper, delivery=first.delivery).actions

    assert isinstance(reads, RunLand)
    assert reads.expect is None


@KEEPERS
def test_a_job_that_nobody_has_seen_gets_no_chance_to_push(keeper: str) -> None:
    assert lands(keeper).actions == (RunFence(LAND),)

    found = lands(keeper, job(LAND, labels={labels.JOB: FENCE}))

    assert found.actions == ()
    assert found.status.delivery is not None
    assert (found.status.state, found.status.delivery.step) == (TaskState.DONE, None)


def test_once_nothing_of_it_can_land_any_more_it_says_who_keeps_it() -> None:
    moved = lands(FOREIGN, landed("Moved", objects.TIP))

    assert moved.actions == ()
    assert moved.status.delivery is not None
    assert moved.status.delivery.step is None
    assert stalled_for(moved.status.conditions) == "DeletionHeld"


@pytest.mark.parametrize("step_", ["Next", "Preparing"])
def test_nothing_of_it_begins_to_land(step_: str) -> None:
    assert lands(FOREIGN, prepared(), delivery=step(step_)).actions == ()


@pytest.mark.parametrize("owners", [{"project": None, "project_problem": GONE}, {"plan": None}])
def test_no_job_is_made_for_what_lands_while_its_project_or_its_plan_is_gone(owners: Any) -> None:
    doubtful = step("Landing", may_have_landed=True)
    subject = deleted("work", verified(doubtful), FOREIGN)

    decision = decide(snapshot(subject, **owners))

    assert decision.actions == ()
    assert decision.status.state is TaskState.DONE


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
