"""A failed Task is tried again, or stays as it is."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plans.rows import PlanTask
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt
from bernstein.core.tasks.attempts import fail
from bernstein.core.waiting import parted
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    NOW,
    dead,
    session,
    snapshot,
    stalled_for,
    status,
    told,
    with_session,
)
from tests.unit.core.tasks.decisions import after, decide


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_max_retries_is_the_number_of_attempts_after_the_first(retries: int) -> None:
    found, sessions = status(), 0
    for _ in range(20):
        subject = objects.task(status=found, maxRetries=retries)
        if found.state is TaskState.IN_PROGRESS:
            sessions += 1
            ended = dead("AgentFailed", number=found.sessions)
            found = decide(snapshot(subject, sessions=(ended,))).status
        elif found.state is TaskState.CLAIMED:
            ended = session(found.sessions, state=SessionState.WORKING)
            found = decide(snapshot(subject, sessions=(ended,))).status
        else:
            found = decide(snapshot(subject)).status

    assert sessions == 1 + retries
    assert (found.state, found.attempt) == (TaskState.FAILED, 1 + retries)
    assert told(found.conditions)["Succeeded"] == ("False", "AgentFailed")
    assert stalled_for(found.conditions) == "AgentFailed"
    assert found.ended_at == NOW


def test_a_failed_task_without_retries_stays_as_it_is() -> None:
    waiting = objects.waits("AgentFailed", "it gave up", needs_person=True)
    failed = status(TaskState.FAILED, attempt=4, waiting=waiting)
    told = decide(snapshot(objects.task(status=failed))).status

    assert told.waiting == waiting
    assert decide(snapshot(objects.task(status=told))).status == told


def test_the_last_message_tells_how_every_attempt_ended() -> None:
    tried = [
        ("GateFailed", "Quality gate 'lint' Failed:\nF401", True),
        ("GateFailed", "Quality gate 'lint' Failed:\nF811", True),
        ("Disrupted", "a drained node", False),
        ("SignalFailed", "Completion signal 'test_passes: make test' Failed:\nno", True),
        ("AgentFailed", "it gave up", True),
    ]
    number, attempts = 0, []
    for reason, message, counted in tried:
        number += counted
        attempts.append(
            Attempt(session="s", attempt=number, counted=counted, reason=reason, message=message)
        )
    found = status(TaskState.IN_PROGRESS, attempt=4, attempts=attempts, feedback="AgentFailed: no")

    over = fail(snapshot(objects.task(status=found)), found, "AgentFailed", NOW)

    assert over.waiting is not None
    cause, _ = parted(over.waiting.message)
    assert cause == (
        "no retry is left after 4 attempts: no. Before that: "
        "attempts 1 to 2 GateFailed: Quality gate 'lint' Failed; "
        "attempt 3 SignalFailed: Completion signal 'test_passes: make test' Failed."
    )


def test_of_many_long_attempts_the_last_message_stays_short() -> None:
    attempts = [
        Attempt(session="s", attempt=n, counted=True, reason=f"R{n}", message="x" * 500)
        for n in range(1, 22)
    ]
    found = status(TaskState.IN_PROGRESS, attempt=21, attempts=attempts, feedback="y" * 500)

    over = fail(snapshot(objects.task(status=found)), found, "AgentFailed", NOW)

    assert over.waiting is not None
    assert len(over.waiting.message) < 2000
    assert all(f" R{n}: " in over.waiting.message for n in range(1, 21))


FETCH = "git fetch https://git.example/app.git "


def last_attempt(ended: AgentSession, **more: Any) -> str:
    """What its message says that helps, once no retry is left."""
    before = with_session(TaskState.IN_PROGRESS, **({"attempt": 3} | more))
    found = after(ended, before)
    assert (found.state, found.ended_at) == (TaskState.FAILED, NOW)
    assert found.waiting is not None
    return parted(found.waiting.message)[1] or ""


def test_a_task_that_failed_for_good_says_how_it_goes_on_and_how_to_have_what_it_left() -> None:
    ended = dead("MaxTurns", work=objects.work())

    said = last_attempt(ended)

    assert said.startswith(
        "Split the step. Another round of attempts: `bernstein retry task/work`."
    )
    assert ended.status.work is not None
    assert said.endswith(f" What it left: {FETCH}{ended.status.work.ref}")


def test_of_a_session_that_was_cut_off_the_checkpoint_can_be_had() -> None:
    ref = "refs/bernstein/1111222233334444/work/s0"

    said = last_attempt(dead("Timeout"), checkpoint=ref)

    assert said.endswith(FETCH + ref)


def test_a_task_that_left_nothing_names_no_ref() -> None:
    assert "git fetch" not in last_attempt(dead("AgentFailed", work=objects.work(BASE)))


def test_work_that_a_check_rejected_last_can_be_had() -> None:
    rejected = objects.checked("work-s1-signal-0-0", 1), objects.checked("work-s1-lint-0")
    signals = [{"type": "test_passes", "command": "pytest"}]
    subject = objects.task(status=objects.done(attempt=4), completionSignals=signals)

    found = decide(snapshot(subject, jobs=rejected)).status

    assert (found.state, stalled_for(found.conditions)) == (TaskState.FAILED, "SignalFailed")
    assert found.waiting is not None
    assert found.waiting.message.endswith(FETCH + "refs/bernstein/1111222233334444/work/s1")


def test_a_run_of_a_node_needs_no_person_for_its_workflow_says_what_follows() -> None:
    ended = dead("MaxTurns", work=objects.work())
    node = {"name": "test", "phase": "build", "role": "qa"}
    workflow = {"phases": [{"name": "build"}], "nodes": [node]}
    plan = objects.plan(stages=(), workflow=workflow)
    rows = (PlanTask(name="work", stage="build", node="test", run=1),)
    plan = plan.model_copy(update={"status": plan.status.model_copy(update={"tasks": rows})})
    task = objects.task(status=with_session(TaskState.IN_PROGRESS, attempt=0), maxRetries=0)

    found = decide(snapshot(task, plan=plan, sessions=(ended,))).status

    assert found.state is TaskState.FAILED
    assert found.waiting is not None
    assert not found.waiting.needs_person
    cause, helps = parted(found.waiting.message)
    assert cause.startswith("its run failed: ")
    assert ended.status.work is not None
    assert helps == f"What it left: {FETCH}{ended.status.work.ref}"
