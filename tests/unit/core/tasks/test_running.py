"""From the claim to the end of the session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.meta import Condition
from bernstein.api.plan import PlanStatus
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.waiting import Tried
from bernstein.core.actions import CreateSession
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons.waits import SOON_SECONDS
from bernstein.core.waiting import unblocked, wait
from tests.unit.core import objects
from tests.unit.core.objects import (
    at,
    dead,
    plan,
    project,
    session,
    snapshot,
    stalled_for,
    with_session,
    work,
)
from tests.unit.core.tasks.decisions import after, decide

NO_PROJECT = Diagnosis("ProjectNotFound", "no Project")
ENDED = plan(status=PlanStatus(observed_generation=1, phase="Failed", ended_at=at(-1)))


def test_a_claimed_task_asks_for_its_session_until_it_is_there() -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED))

    (create,) = decide(snapshot(claimed)).actions
    assert isinstance(create, CreateSession)
    assert create.session["metadata"]["name"] == "work-s1"
    assert decide(snapshot(claimed, sessions=(session(),))).actions == ()


OTHER_AGENT = {"name": "b", "adapter": "generic", "image": "b", "command": ["b"]}


def test_a_claim_that_came_late_is_given_back() -> None:
    """Its place may be another Task's by now."""
    claimed = objects.task(status=with_session(TaskState.CLAIMED))

    found = decide(replace(snapshot(claimed), late_claim=True))

    assert (found.status.state, found.actions) == (TaskState.OPEN, ())
    assert found.status.history[-1].reason == "MaxAgents"
    begun = decide(replace(snapshot(claimed, sessions=(session(),)), late_claim=True))
    assert begun.status.state is TaskState.CLAIMED, "its session is there"


def test_a_claim_is_given_back_and_held_where_its_session_is_refused() -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED))

    found = decide(snapshot(claimed).with_refusal("exceeded quota: count/agentsessions"))

    assert (found.status.state, found.actions) == (TaskState.OPEN, ())
    assert stalled_for(found.status.conditions) == "PodRejected"
    assert found.status.waiting is not None
    assert found.status.waiting.until == at(SOON_SECONDS)
    assert (found.status.attempt, found.status.infrastructure_failures) == (0, 0)


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        (
            {"project": None, "project_problem": NO_PROJECT},
            "ProjectNotFound",
        ),
        ({"plan": None}, "PlanGone"),
        ({"plan": ENDED}, "PlanEnded"),
        (
            {"project": project(agents=[OTHER_AGENT])},
            "AgentNotFound",
        ),
    ],
)
def test_a_claim_is_given_back_when_no_session_can_be_made(
    gone: dict[str, Any], reason: str
) -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED), cli="demo")

    found = decide(snapshot(claimed, **gone))

    assert (found.status.state, found.actions) == (TaskState.OPEN, ())
    assert found.status.history[-1].reason == reason
    assert found.status.infrastructure_failures == 0
    again = objects.task(status=found.status, cli="demo")
    assert stalled_for(decide(snapshot(again, **gone)).status.conditions) == reason


def test_a_task_is_in_progress_when_the_agent_runs_and_the_hold_is_over() -> None:
    hold = objects.held("SecretNotFound", None, scope="Agent")
    claimed = objects.task(status=with_session(TaskState.CLAIMED, waiting=hold))

    starting = decide(snapshot(claimed, sessions=(session(state=SessionState.STARTING),)))
    running = decide(snapshot(claimed, sessions=(session(state=SessionState.WORKING),)))

    assert (starting.status.state, starting.status.waiting) == (TaskState.CLAIMED, hold)
    assert (running.status.state, running.status.waiting) == (TaskState.IN_PROGRESS, None)


def test_an_agent_that_ran_and_ended_unseen_passes_through_in_progress() -> None:
    claimed = with_session(TaskState.CLAIMED)

    found = after(dead(work=work()), claimed)
    assert found.state is TaskState.IN_PROGRESS
    assert after(dead(work=work()), found).state is TaskState.DONE


def test_a_session_that_was_deleted_is_infrastructure() -> None:
    found = decide(snapshot(objects.task(status=with_session(TaskState.IN_PROGRESS)))).status

    assert (found.state, found.infrastructure_failures) == (TaskState.OPEN, 1)


def test_work_that_cannot_be_taken_costs_an_attempt_from_the_second_time_on() -> None:
    states, counted = [], []
    status = with_session(TaskState.IN_PROGRESS)
    for number in (1, 2):
        lost = dead("InfrastructureError", message="the pusher left no result", number=number)
        at_work = objects.task(status=status)
        found = decide(snapshot(at_work, sessions=(lost,))).status
        states.append(found.state)
        counted.append([attempt.counted for attempt in found.attempts])
        status = with_session(TaskState.IN_PROGRESS, number + 1, attempts=found.attempts)

    assert states == [TaskState.OPEN, TaskState.FAILED]
    assert counted == [[False], [False, True]]
    assert found.attempts[-1].reason == "AgentFailed"
    assert "for the second time" in found.attempts[-1].message


def test_infrastructure_that_fails_before_the_agent_runs_never_counts() -> None:
    status = with_session(TaskState.IN_PROGRESS)
    for number in (1, 2):
        lost = dead("InfrastructureError", started=False, number=number)
        found = decide(snapshot(objects.task(status=status), sessions=(lost,))).status
        status = with_session(TaskState.IN_PROGRESS, number + 1, attempts=found.attempts)

    assert [attempt.counted for attempt in found.attempts] == [False, False]


def no_node(words: str = "no node has room for its pod: 0/1 nodes") -> AgentSession:
    """A session whose pod has no node yet."""
    condition = Condition(
        type="Reconciling",
        status="True",
        reason="Unschedulable",
        message=words,
        observed_generation=1,
        last_transition_time=objects.NOW,
    )
    return session(
        state=SessionState.STARTING, reason="Unschedulable", conditions=[condition.model_dump()]
    )


def test_a_task_says_that_no_node_has_room_for_its_agent_until_one_has() -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED))

    waits = decide(snapshot(claimed, sessions=(no_node(),))).status

    assert waits.waiting is not None
    assert (waits.waiting.reason, waits.waiting.needs_person) == ("Unschedulable", False)
    assert waits.waiting.message == "no node has room for its pod: 0/1 nodes"
    reconciling = next(c for c in waits.conditions if c.type == "Reconciling")
    assert reconciling.reason == "Unschedulable"
    again = objects.task(status=waits)
    placed = session(state=SessionState.STARTING)
    assert decide(snapshot(again, sessions=(placed,))).status.waiting is None


def test_a_task_that_tries_what_failed_before_still_tries_it_when_a_node_has_room() -> None:
    tried = wait(
        "SecretNotFound", "tries", objects.NOW, tried=Tried(reason="SecretNotFound", generation=1)
    )
    claimed = objects.task(status=with_session(TaskState.CLAIMED, waiting=tried))

    waits = decide(snapshot(claimed, sessions=(no_node(),))).status
    again = objects.task(status=waits)
    placed = decide(snapshot(again, sessions=(session(state=SessionState.STARTING),))).status

    assert waits.waiting is not None
    assert waits.waiting.tried == tried.tried
    assert placed.waiting is not None
    assert (placed.waiting.reason, placed.waiting.tried) == ("SecretNotFound", tried.tried)


def test_a_task_says_what_holds_the_job_of_its_session_until_nothing_does() -> None:
    stall = Condition(
        type="Stalled",
        status="True",
        reason="DeletionHeld",
        message="it is held by its finalizers: x. Remedy: Take it away.",
        observed_generation=1,
        last_transition_time=objects.NOW,
    )
    held = session(state=SessionState.WORKING, conditions=[stall.model_dump()])
    at_work = objects.task(status=with_session(TaskState.IN_PROGRESS))

    waits = decide(snapshot(at_work, sessions=(held,))).status

    assert waits.waiting is not None
    assert (waits.waiting.reason, waits.waiting.needs_person) == ("DeletionHeld", True)
    goes = session(state=SessionState.WORKING)
    freed = at_work.model_copy(update={"status": unblocked(waits)})
    assert decide(snapshot(freed, sessions=(goes,))).status.waiting is None
