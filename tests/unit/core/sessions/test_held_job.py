"""A session whose Job was deleted, and does not go."""

from __future__ import annotations

import pytest

from bernstein.api.meta import ConditionType
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core.conditions import find
from bernstein.core.diagnosis import HELD_SECONDS
from bernstein.core.jobs import JobView
from bernstein.core.reasons import policy
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.decide import SessionDecision, SessionSnapshot
from tests.unit.core.objects import at, job, pod, running, session

LAUNCHED = session(state=SessionState.STARTING, job="work-s1", started_at=at(-300))


def look(subject: AgentSession, job_: JobView | None) -> SessionDecision:
    decision = sessions.decide(SessionSnapshot(subject, job_, launchable=True), at(0))
    return sessions.with_refusal(decision, None, at(0))


def going(seconds: float, *finalizers: str) -> JobView:
    """A Job without a pod, deleted so long ago."""
    return job("work-s1", deleting=True, deletion=at(-seconds), finalizers=finalizers)


def test_what_holds_its_job_is_said_and_needs_a_person() -> None:
    young = look(LAUNCHED, going(HELD_SECONDS, "foregroundDeletion"))
    found = look(LAUNCHED, going(HELD_SECONDS + 1, "foregroundDeletion", "example.com/mine"))

    assert young.status.reason is None
    assert find(young.status.conditions, ConditionType.STALLED) is None
    assert (found.status.state, found.status.reason) == (SessionState.STARTING, "DeletionHeld")
    stall = find(found.status.conditions, ConditionType.STALLED)
    assert stall is not None
    assert (stall.status, stall.reason) == ("True", "DeletionHeld")
    assert "held by its finalizers: foregroundDeletion, example.com/mine" in stall.message
    assert "blockOwnerDeletion" in stall.message
    assert stall.message.endswith(policy("DeletionHeld").remedy)


def test_finalizers_of_others_are_shown_clean_and_cut() -> None:
    found = look(LAUNCHED, going(300, "example.com/\x1b[2J", *("x" * 60 for _ in range(100))))

    stall = find(found.status.conditions, ConditionType.STALLED)
    assert stall is not None
    assert "\x1b" not in stall.message
    assert len(stall.message) < 1200


@pytest.mark.parametrize("then", [None, job("work-s1", pod(running("agent")))])
def test_once_it_is_held_no_more_nothing_is_said_of_it(then: JobView | None) -> None:
    held = LAUNCHED.model_copy(update={"status": look(LAUNCHED, going(300, "x")).status})

    found = look(held, then).status

    assert find(found.conditions, ConditionType.STALLED) is None
    assert found.reason != "DeletionHeld"
