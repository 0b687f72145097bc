"""Moves of the state machines."""

from __future__ import annotations

import pytest

from bernstein.api.states import SESSION_MOVES, TASK_MOVES, SessionState, TaskState
from bernstein.api.task import MOST_MOVES
from bernstein.core import fsm
from bernstein.core.fsm import IllegalTransition, check_session_move
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from tests.unit.core.objects import NOW, status

PAIRS = [(old, new) for old in TaskState for new in TaskState]
SESSION_PAIRS = [(old, new) for old in SessionState for new in SessionState if old != new]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_task_moves_as_the_table_says_and_not_otherwise(old: TaskState, new: TaskState) -> None:
    if new in TASK_MOVES[old]:
        assert fsm.move(status(old), new, "Because", NOW).state is new
        return
    with pytest.raises(IllegalTransition, match=f"{old} -> {new}"):
        fsm.move(status(old), new, "Because", NOW)


@pytest.mark.parametrize("state", TaskState)
def test_a_task_begins_planned_or_open(state: TaskState) -> None:
    if state in (TaskState.PLANNED, TaskState.OPEN):
        assert fsm.move(status(None), state, "Created", NOW).state is state
        return
    with pytest.raises(IllegalTransition, match="nothing ->"):
        fsm.move(status(None), state, "Created", NOW)


def test_there_are_as_many_moves_as_the_table_has_and_none_out_of_an_end() -> None:
    assert sum(map(len, TASK_MOVES.values())) == 36
    assert not TASK_MOVES[TaskState.CLOSED]
    assert not TASK_MOVES[TaskState.CANCELLED]


@pytest.mark.parametrize(("old", "new"), SESSION_PAIRS)
def test_a_session_moves_as_the_table_says(old: SessionState, new: SessionState) -> None:
    if new in SESSION_MOVES[old]:
        check_session_move(old, new)
        return
    with pytest.raises(IllegalTransition, match="AgentSession"):
        check_session_move(old, new)


def test_a_session_begins_starting_and_may_stay_as_it_is() -> None:
    check_session_move(None, SessionState.STARTING)
    check_session_move(SessionState.DEAD, SessionState.DEAD)
    with pytest.raises(IllegalTransition):
        check_session_move(None, SessionState.DEAD)


def test_a_move_is_recorded_with_actor_reason_time_and_attempt() -> None:
    moved = fsm.move(
        status(TaskState.CLAIMED, attempt=2), TaskState.IN_PROGRESS, "AgentStarted", NOW, actor="me"
    )

    (entry,) = moved.history
    assert (entry.from_state, entry.to_state) == ("Claimed", "InProgress")
    assert (entry.actor, entry.reason, entry.time, entry.attempt) == ("me", "AgentStarted", NOW, 2)


def test_history_is_bounded_and_keeps_the_newest_moves() -> None:
    moved = status(TaskState.OPEN)
    for _ in range(MOST_MOVES):
        moved = fsm.move(moved, TaskState.CLAIMED, "Scheduled", NOW)
        moved = fsm.move(moved, TaskState.OPEN, "Disrupted", NOW)

    assert len(moved.history) == MOST_MOVES
    assert moved.history[-1].reason == "Disrupted"


@pytest.mark.parametrize(
    ("attempt", "failures", "retry"),
    [
        (0, 0, True),
        (3, 0, True),
        (4, 0, False),
        (1, MAX_INFRASTRUCTURE_FAILURES, True),
        (1, MAX_INFRASTRUCTURE_FAILURES + 1, False),
    ],
)
def test_three_retries_follow_the_first_attempt_and_infrastructure_has_a_cap_of_its_own(
    attempt: int, failures: int, retry: bool
) -> None:
    failed = status(TaskState.FAILED, attempt=attempt, infrastructure_failures=failures)

    assert fsm.may_retry(failed, 3) is retry
    assert fsm.is_final(failed, 3) is not retry


@pytest.mark.parametrize("state", TaskState)
def test_only_closed_and_cancelled_are_final_with_retries_left(state: TaskState) -> None:
    final = state in (TaskState.CLOSED, TaskState.CANCELLED)

    assert fsm.is_final(status(state), 3) is final
