"""A session whose Job has made a second pod."""

from __future__ import annotations

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core.jobs import JobView
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.actions import DeleteJob
from bernstein.core.sessions.decide import SessionDecision, SessionSnapshot
from tests.unit.core.objects import agent_pod, at, job, pod, running, session

WORKS = session(state=SessionState.WORKING, job="work-s1", started_at=at(-90))


def look(subject: AgentSession, job_: JobView) -> SessionDecision:
    return sessions.decide(SessionSnapshot(subject, job_, launchable=True), at(0))


def test_while_the_first_is_at_work_the_session_is_disrupted_and_both_end() -> None:
    doubled = job("work-s1", pod(running("agent")), another=True)

    found = look(WORKS, doubled)

    assert found.actions == (DeleteJob(doubled),)
    assert found.status.abandoned is not None
    assert (found.status.state, found.status.reason) == (SessionState.WORKING, "Disrupted")


def test_an_end_of_the_first_stands_and_is_recorded_once_the_second_is_over() -> None:
    first = agent_pod()
    doubled = job("work-s1", first, another=True)

    waits = look(WORKS, doubled)
    assert (waits.status.state, waits.status.abandoned) == (SessionState.WORKING, None)
    assert waits.actions == (DeleteJob(doubled),)
    subject = WORKS.model_copy(update={"status": waits.status})
    ends = look(subject, job("work-s1", first, deleting=True)).status
    undisturbed = look(WORKS, job("work-s1", first)).status
    assert ends.state is SessionState.DEAD
    assert ends.outcome == undisturbed.outcome
