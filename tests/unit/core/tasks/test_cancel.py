"""A cancel, in every state."""

from __future__ import annotations

import pytest

from bernstein.api.delivery import Delivery
from bernstein.api.pod import FENCE
from bernstein.api.states import SessionState, TaskState
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs, RunFence, StopSession
from tests.unit.core import objects
from tests.unit.core.objects import (
    dead,
    done,
    job,
    session,
    snapshot,
    stalled_for,
    status,
    told,
    verification,
    with_session,
)
from tests.unit.core.tasks.decisions import CANCEL, after, decide


@pytest.mark.parametrize(
    "state",
    [
        TaskState.PLANNED,
        TaskState.OPEN,
        TaskState.BLOCKED,
        TaskState.WAITING_FOR_SUBTASKS,
        TaskState.FAILED,
        TaskState.DONE,
        TaskState.PENDING_APPROVAL,
    ],
)
def test_what_does_not_run_is_cancelled_at_once(state: TaskState) -> None:
    before = status(state, verification=verification(passed=True))
    subject = objects.task(status=before, cancel=CANCEL)

    found = decide(snapshot(subject)).status

    assert found.state is TaskState.CANCELLED
    assert told(found.conditions) == {"Succeeded": ("False", "Cancelled")}
    assert found.history[-1].actor == "user"


@pytest.mark.parametrize("state", [TaskState.OPEN, TaskState.DONE, TaskState.PENDING_APPROVAL])
def test_who_cancels_in_his_own_name_is_the_one_who_has_moved_it(state: TaskState) -> None:
    subject = objects.task(status=status(state), cancel=CANCEL | {"by": "ann"})

    assert decide(snapshot(subject)).status.history[-1].actor == "ann"


def test_who_cancels_an_orphan_has_made_both_of_its_moves() -> None:
    subject = objects.task(status=status(TaskState.ORPHANED), cancel=CANCEL | {"by": "ann"})

    failed = decide(snapshot(subject)).status
    found = decide(snapshot(subject.model_copy(update={"status": failed}))).status

    moves = [(move.to_state, move.actor) for move in found.history[-2:]]
    assert moves == [(TaskState.FAILED, "ann"), (TaskState.CANCELLED, "ann")]


@pytest.mark.parametrize("state", [TaskState.CLOSED, TaskState.CANCELLED])
def test_a_cancel_of_what_is_over_changes_nothing(state: TaskState) -> None:
    over = decide(snapshot(objects.task(status=status(state), cancel=CANCEL))).status
    subject = objects.task(status=over, cancel={"reason": "not needed"})

    assert over.state is state
    assert decide(snapshot(subject)).status == over


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS])
@pytest.mark.parametrize("where", [None, SessionState.STARTING, SessionState.WORKING])
def test_a_running_agent_is_asked_to_end_and_waited_for(
    state: TaskState, where: SessionState | None
) -> None:
    subject = objects.task(status=with_session(state), cancel=CANCEL)

    decision = decide(snapshot(subject, sessions=(session(state=where),)))

    assert decision.status.state is state
    assert decision.actions == (StopSession("Cancelled"),)


def test_a_task_whose_agent_is_gone_is_cancelled() -> None:
    subject = objects.task(status=with_session(TaskState.IN_PROGRESS), cancel=CANCEL)

    found = decide(snapshot(subject, sessions=(dead("Cancelled", stop="Cancelled"),))).status

    assert found.state is TaskState.CANCELLED
    assert not found.attempts[-1].counted


def test_an_orphan_is_cancelled_by_way_of_failed() -> None:
    subject = objects.task(status=with_session(TaskState.ORPHANED), cancel=CANCEL)

    found = decide(snapshot(subject)).status
    assert found.state is TaskState.FAILED
    again = objects.task(status=found, cancel=CANCEL)
    assert decide(snapshot(again)).status.state is TaskState.CANCELLED


def test_checks_that_run_are_ended_before_a_task_is_cancelled() -> None:
    at_work = job("work-s1-lint-0", objects.pod(objects.running("check")))
    subject = objects.task(status=done(), cancel=CANCEL)

    decision = decide(snapshot(subject, jobs=(at_work,)))

    assert decision.status.state is TaskState.DONE
    assert decision.actions == (DeleteJobs((at_work,)),)


def test_a_check_that_may_still_be_made_is_fenced_before_a_task_is_cancelled() -> None:
    subject = objects.task(status=done(), cancel=CANCEL)

    first = decide(snapshot(subject))
    assert first.status.state is TaskState.DONE
    assert first.actions == (RunFence("work-s1-lint-0"),)
    ending = objects.task(status=first.status, cancel=CANCEL)
    fence = job("work-s1-lint-0", labels={labels.JOB: FENCE})
    then = decide(snapshot(ending, jobs=(fence,)))

    assert (then.status.state, then.actions) == (TaskState.CANCELLED, ())


def test_a_check_that_was_seen_and_is_ended_gets_no_fence() -> None:
    at_work = job("work-s1-lint-0", objects.pod(objects.running("check")))
    subject = objects.task(status=done(), cancel=CANCEL)
    first = decide(snapshot(subject, jobs=(at_work,)))

    then = decide(snapshot(objects.task(status=first.status, cancel=CANCEL)))

    assert (then.status.state, then.actions) == (TaskState.CANCELLED, ())


def test_no_more_checks_are_fenced_than_may_be_at_work() -> None:
    own = [{"name": f"own{n}", "command": "true"} for n in range(5)]
    slow = objects.project(gates={"pipeline": own, "maxParallel": 2})
    subject = objects.task(status=done(), cancel=CANCEL)

    first = decide(snapshot(subject, project=slow))

    assert len(first.actions) == 2


def test_a_candidate_that_may_still_be_made_is_fenced() -> None:
    preparing = Delivery(state="Pending", step="Preparing", round=3)
    before = done(verification=verification(passed=True), delivery=preparing)

    first = decide(snapshot(objects.task(status=before, cancel=CANCEL)))

    assert first.actions == (RunFence("work-s1-prepare-3"),)


def test_a_cancel_after_the_merge_has_started_comes_too_late() -> None:
    landing = Delivery(state="Pending", step="Landing", round=1)
    before = done(verification=verification(passed=True), delivery=landing)
    subject = objects.task(status=before, cancel=CANCEL)

    found = decide(snapshot(subject)).status

    assert found.state is TaskState.DONE
    assert told(found.conditions)["CancelRefused"] == ("True", "MergeInProgress")


def test_a_cancelled_task_needs_no_person_any_more() -> None:
    stalled = after(dead("SecretNotFound", started=False), with_session(TaskState.CLAIMED))

    found = decide(snapshot(objects.task(status=stalled, cancel=CANCEL))).status

    assert stalled_for(stalled.conditions) == "SecretNotFound"
    assert told(found.conditions) == {"Succeeded": ("False", "Cancelled")}
    assert (found.waiting, found.waiting) == (None, None)


@pytest.mark.parametrize("state", [TaskState.CLOSED, TaskState.CANCELLED])
def test_a_job_that_is_made_too_late_is_deleted(state: TaskState) -> None:
    late = job("work-s1-lint-0", objects.pod(objects.running("check")))
    subject = objects.task(status=status(state), cancel=CANCEL)

    assert decide(snapshot(subject, jobs=(late,))).actions == (DeleteJobs((late,)),)


def test_a_fence_stays_when_what_runs_beside_it_is_ended() -> None:
    at_work = job("work-s1-lint-0", objects.pod(objects.running("check")))
    fence = job("work-s1-land-1", labels={labels.JOB: FENCE})
    subject = objects.task(status=done(), cancel=CANCEL)

    assert decide(snapshot(subject, jobs=(at_work, fence))).actions == (DeleteJobs((at_work,)),)
