"""A session that is given up while its pod waits: what is evidence of what, once it has started."""

from __future__ import annotations

import pytest

from bernstein.api.states import SessionState
from bernstein.api.waiting import WaitScope
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.reasons import policy
from bernstein.core.sessions import outcome
from tests.unit.core.objects import (
    Object,
    agent_pod,
    ended,
    job,
    over,
    running,
    session,
    waiting,
)

FORGED = {"reason": "SecretNotFound", "message": 'secret "x" not found'}


@pytest.mark.parametrize(
    "pod",
    [
        over(ended("checkout"), running("agent"), deleting=True, phase="Failed"),
        agent_pod(143, deleting=True),
        agent_pod(2, disrupted=True),
    ],
)
def test_a_session_whose_agent_started_is_no_evidence_of_what_keeps_agents_from_starting(
    pod: Object,
) -> None:
    given_up = session(state=SessionState.WORKING, abandoned=FORGED)
    silent = Diagnosis("HeartbeatLost", "its node does not answer any more")
    ends = [
        outcome.classify(given_up, job("work-s1", pod)),
        outcome.lost(given_up, job("work-s1", pod), silent),
        outcome.without_pod(given_up),
    ]

    for found in (end.outcome for end in ends):
        assert found.started
        assert policy(found.reason).capped
        assert policy(found.reason).holds is WaitScope.TASK


def test_a_session_that_was_given_up_and_never_started_says_what_is_missing() -> None:
    given_up = session(state=SessionState.STARTING, abandoned=FORGED)
    stuck = over(waiting("checkout"), waiting("agent"), phase="Failed", deleting=True)

    found = outcome.classify(given_up, job("work-s1", stuck)).outcome

    assert (found.reason, found.message, found.started) == (*FORGED.values(), False)
