"""What people ask of a Task with a session: its claim back, or its session's end at once."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import CreateSession, StopSession, TaskDecision
from bernstein.core.sessions import decide as session_decide
from bernstein.core.sessions.actions import DeleteJob
from bernstein.core.tasks import decide as task_decide
from tests.unit.core import objects
from tests.unit.core.objects import Object, at, dead, session, status, with_session, work

CLAIMED, WORKING = with_session(TaskState.CLAIMED), with_session(TaskState.IN_PROGRESS)
STARTING = session(state=SessionState.STARTING)


def request(verb: str, number: int = 1, by: str = "ann") -> Object:
    return {"id": f"r-{number}", "verb": verb, "by": by, "reason": "it runs wild"}


def asked(
    before: TaskStatus, verb: str, current: AgentSession | None = None, **more: Any
) -> TaskDecision:
    wanted = more.pop("requests", [request(verb)])
    subject = objects.task(status=before, requests=wanted, **more)
    sessions = () if current is None else (current,)
    return task_decide.decide(objects.snapshot(subject, sessions=sessions), at(60))


def answers(found: TaskStatus) -> list[tuple[str, str, str]]:
    return [(answer.id, answer.answer, answer.reason) for answer in found.requests or ()]


def moved(found: TaskStatus) -> tuple[str, str, str]:
    last = found.history[-1]
    return last.to_state, last.actor, last.reason


# --- Unclaim --------------------------------------------------------------------------------------


def test_a_claim_without_a_session_is_given_back_at_once() -> None:
    found = asked(CLAIMED, "Unclaim")

    assert found.actions == ()
    assert moved(found.status) == ("Open", "ann", "Unclaimed")
    assert answers(found.status) == [("r-1", "Done", "Unclaim")]


@pytest.mark.parametrize("state", [None, SessionState.STARTING])
def test_a_session_that_starts_ends_before_the_claim_is_given_back(
    state: SessionState | None,
) -> None:
    waits = asked(CLAIMED, "Unclaim", session(state=state))

    assert waits.actions == (StopSession("Unclaimed"),)
    assert (waits.status.state, answers(waits.status)) == (TaskState.CLAIMED, [])

    ended = dead("Unclaimed", started=False, stop="Unclaimed")
    found = asked(waits.status, "Unclaim", ended).status

    assert moved(found) == ("Open", "ann", "Unclaimed")
    assert answers(found) == [("r-1", "Done", "Unclaim")]
    assert [(a.reason, a.counted) for a in found.attempts] == [("Unclaimed", False)]
    assert (found.attempt, found.infrastructure_failures) == (0, 0)


def test_its_checkpoint_of_before_stays() -> None:
    before = with_session(TaskState.CLAIMED, checkpoint="refs/bernstein/1/work/s0")

    found = asked(before, "Unclaim", dead("Unclaimed", started=False, stop="Unclaimed")).status

    assert found.checkpoint == "refs/bernstein/1/work/s0"


def test_an_agent_that_began_in_that_moment_ends_all_the_same_one_move_at_a_time() -> None:
    ended = dead("Unclaimed", started=True, stop="Unclaimed")

    once = asked(CLAIMED, "Unclaim", ended).status
    assert (once.state, answers(once)) == (TaskState.IN_PROGRESS, [])
    found = asked(once, "Unclaim", ended).status

    assert moved(found) == ("Open", "ann", "Unclaimed")
    assert answers(found) == [("r-1", "Done", "Unclaim")]


@pytest.mark.parametrize(
    ("before", "current"),
    [
        (WORKING, session(state=SessionState.WORKING)),
        (CLAIMED, session(state=SessionState.WORKING)),
        (CLAIMED, dead("PodLost")),
        (status(TaskState.OPEN), None),
        (objects.done(), None),
        (status(TaskState.FAILED, attempt=4), None),
    ],
)
def test_what_is_not_claimed_or_has_begun_is_refused(
    before: TaskStatus, current: AgentSession | None
) -> None:
    found = asked(before, "Unclaim", current)

    assert found.status.state is before.state
    assert answers(found.status) == [("r-1", "Refused", "NotClaimed")]


# --- Kill -----------------------------------------------------------------------------------------


def test_a_session_at_work_is_told_to_end_and_its_task_is_orphaned_when_it_has() -> None:
    waits = asked(WORKING, "Kill", session(state=SessionState.WORKING))

    assert waits.actions == (StopSession("Killed"),)
    assert answers(waits.status) == []

    found = asked(WORKING, "Kill", dead("Killed", stop="Killed", work=work())).status

    assert moved(found) == ("Orphaned", "ann", "Killed")
    assert answers(found) == [("r-1", "Done", "Kill")]
    assert (found.attempt, found.checkpoint) == (0, "refs/bernstein/1111222233334444/work/s1")
    again = asked(found, "Kill", dead("Killed", stop="Killed")).status
    assert moved(again) == ("Open", "ann", "Killed")
    assert answers(again) == [("r-1", "Done", "Kill")]


def test_one_that_has_not_begun_is_open_again() -> None:
    assert asked(CLAIMED, "Kill", STARTING).actions == (StopSession("Killed"),)
    found = asked(CLAIMED, "Kill", dead("Killed", started=False, stop="Killed")).status
    assert moved(found) == ("Open", "ann", "Killed")
    assert moved(asked(CLAIMED, "Kill").status)[0] == "Open"


def test_while_a_session_ends_nothing_else_is_told_and_nothing_is_begun() -> None:
    found = asked(WORKING, "Kill", session(state=SessionState.WORKING, stop="Killed"))

    assert found.actions == ()
    assert (found.status.state, answers(found.status)) == (TaskState.IN_PROGRESS, [])


def test_of_two_at_once_the_second_finds_nothing_to_kill() -> None:
    both = [request("Kill"), request("Kill", 2, "bob")]

    found = asked(WORKING, "Kill", dead("Killed", stop="Killed"), requests=both).status

    assert moved(found)[1] == "ann"
    assert answers(found) == [("r-1", "Done", "Kill"), ("r-2", "Refused", "NothingToKill")]


@pytest.mark.parametrize(
    ("verbs", "why"),
    [(("Unclaim", "Kill"), "Unclaimed"), (("Kill", "Unclaim"), "Killed")],
    ids=["to give it back first", "to kill it first"],
)
def test_a_session_that_starts_is_told_to_end_once_by_who_asked_first(
    verbs: tuple[str, str], why: str
) -> None:
    both = [request(verbs[0]), request(verbs[1], 2, "bob")]

    waits = asked(CLAIMED, "", STARTING, requests=both)
    told = session(state=SessionState.STARTING, stop=why)
    still = asked(waits.status, "", told, requests=both)
    ended = dead(why, started=False, stop=why)
    found = asked(waits.status, "", ended, requests=both).status

    assert waits.actions == (StopSession(why),)
    assert still.actions == ()
    assert moved(found) == ("Open", "ann", why)
    assert [answer for _, answer, _ in answers(found)] == ["Done", "Refused"]


def test_a_session_that_ended_by_itself_before_counts_as_it_ended() -> None:
    ended = dead("Succeeded", work=work(final=True))

    found = asked(WORKING, "Kill", ended)

    assert found.actions == ()
    assert answers(found.status) == [("r-1", "Refused", "NothingToKill")]
    assert asked(found.status, "Kill", ended).status.state is TaskState.DONE


def test_one_that_ran_out_of_time_while_it_was_told_to_end_has_timed_out() -> None:
    ended = dead("Timeout", stop="Killed")

    found = asked(WORKING, "Kill", ended).status

    assert answers(found) == [("r-1", "Refused", "NothingToKill")]
    assert asked(found, "Kill", ended).status.attempt == 1


@pytest.mark.parametrize(
    "before", [status(TaskState.OPEN), objects.done(), status(TaskState.CLOSED)]
)
def test_without_a_session_there_is_nothing_to_kill(before: TaskStatus) -> None:
    assert answers(asked(before, "Kill").status) == [("r-1", "Refused", "NothingToKill")]


@pytest.mark.parametrize("verb", ["Kill", "Unclaim"])
def test_what_was_cancelled_ends_by_that(verb: str) -> None:
    found = asked(CLAIMED, verb, STARTING, cancel={"reason": "no"})

    assert found.actions == ()
    assert answers(found.status) == [("r-1", "Refused", "Cancelled")]


def test_a_kill_needs_no_request_to_be_carried_through() -> None:
    """Somebody took the object for another one meanwhile, as a restore does."""
    found = asked(WORKING, "", dead("Killed", stop="Killed"), requests=[]).status

    assert moved(found) == ("Orphaned", "operator", "Killed")


def test_a_claimed_task_asks_for_no_session_while_its_claim_is_asked_back() -> None:
    found = asked(CLAIMED, "Unclaim")

    assert not any(isinstance(action, CreateSession) for action in found.actions)


# --- the session ----------------------------------------------------------------------------------


def stopping(reason: str) -> Any:
    told = session(state=SessionState.WORKING, stop=reason, job="work-s1")
    pod = objects.pod(objects.ended("checkout"), objects.running("agent"))
    snapshot = session_decide.SessionSnapshot(told, objects.job("work-s1", pod), launchable=True)
    return session_decide.decide(snapshot, at(1)).actions


def test_who_is_killed_gets_no_time_and_who_is_stopped_does() -> None:
    (delete,) = stopping("Killed")

    assert isinstance(delete, DeleteJob)
    assert stopping("Cancelled") == ()
