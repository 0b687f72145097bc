"""A session is born Starting: nothing is written of it before there is something to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bernstein.api.meta import UsageCounts
from bernstein.api.pod import FENCE
from bernstein.api.session import AgentSession, Report
from bernstein.api.states import SessionState
from bernstein.core import labels
from bernstein.core.actions import RunFence
from bernstein.core.jobs import JobView
from bernstein.core.sessions.actions import DeleteJob, Launch
from bernstein.core.sessions.decide import (
    TOLD_SECONDS,
    SessionDecision,
    SessionSnapshot,
    decide,
    expected_job,
)
from tests.unit.core.objects import (
    agent_pod,
    at,
    ended,
    job,
    over,
    pod,
    running,
    session,
    told,
    waiting,
)

PENDING = pod(waiting("agent"), phase="Pending")
AT_WORK = pod(ended("checkout"), running("pusher"), running("recorder"), running("agent"))


def born(**status: Any) -> AgentSession:
    """As the API server serves a session that was made a second ago."""
    made = session(state=SessionState.STARTING, **({"observed_generation": -1} | status))
    meta = made.metadata.model_copy(update={"creation_timestamp": at(-1)})
    return made.model_copy(update={"metadata": meta})


def look(
    subject: AgentSession, view: JobView | None = None, *, now: float = 0, **more: Any
) -> SessionDecision:
    return decide(SessionSnapshot(subject, view, launchable=True, **more), at(now))


def of_pod(found: Any, **more: Any) -> JobView:
    return job("work-s1", found, **more)


def test_its_job_is_made_and_nothing_is_written() -> None:
    subject = born()

    decision = look(subject)

    assert decision.actions == (Launch(),)
    assert decision.status == subject.status


def test_while_its_pod_starts_as_expected_nothing_is_written() -> None:
    subject = born()

    for view in (of_pod(None, age=1), of_pod(PENDING)):
        decision = look(subject, view)
        assert (decision.status, decision.actions) == (subject.status, ())
        assert decision.requeue_after


def test_job_pod_and_start_are_told_when_its_agent_works() -> None:
    status = look(born(), of_pod(AT_WORK, age=2)).status

    assert (status.state, status.job) == (SessionState.WORKING, "work-s1")
    assert status.pod is not None
    assert status.pod.node == "node-1"
    assert status.started_at == at(-2)
    assert status.observed_generation == 1
    assert told(status.conditions)["Reconciling"] == ("True", "Working")


def test_a_start_that_takes_its_time_is_told_of() -> None:
    status = look(born(), of_pod(PENDING), now=TOLD_SECONDS).status

    assert (status.state, status.job) == (SessionState.STARTING, "work-s1")
    assert status.pod is not None
    assert told(status.conditions)["Reconciling"] == ("True", "Starting")


def test_what_keeps_it_from_starting_is_told_at_once() -> None:
    stuck = of_pod(pod(waiting("agent", "ErrImagePull", "not found"), phase="Pending"))

    decision = look(born(), stuck)

    assert decision.status.abandoned is not None
    assert decision.status.job == "work-s1"
    assert decision.actions == (DeleteJob(stuck),)


def test_a_stop_is_told_at_once() -> None:
    subject = session(state=SessionState.STARTING, stop="Cancelled", observed_generation=-1)

    decision = look(subject, of_pod(PENDING))

    assert decision.status.reason == "Cancelled"
    assert decision.actions


def test_an_agent_that_ended_before_anybody_saw_it_work_counts() -> None:
    status = look(born(), of_pod(over(*agent_pod(0)["status"]["containerStatuses"]))).status

    assert status.state is SessionState.DEAD
    assert (status.job, status.pod is not None) == ("work-s1", True)
    assert status.started_at is not None


def test_the_clock_of_the_api_server_makes_no_run_begin_later_than_it_was_seen() -> None:
    status = look(born(), of_pod(AT_WORK, age=-30)).status

    assert status.started_at == at(0)


def test_a_job_that_this_process_has_made_or_seen_is_not_made_again() -> None:
    """Somebody deleted it: its agent may have run."""
    gone = look(born(), None, launched=True)

    assert gone.actions == ()
    assert gone.status.state is SessionState.DEAD
    assert gone.status.outcome is not None
    assert gone.status.outcome.reason == "PodLost"

    fenced = look(born(), None, launched=True, late=True)
    assert fenced.actions == (RunFence("work-s1"),)


def test_a_session_that_has_reported_has_run() -> None:
    report = Report(seq=1, usage=UsageCounts(input=1)).model_dump()

    decision = look(born(report=report))

    assert decision.actions == ()
    assert decision.status.state is SessionState.DEAD
    assert expected_job(born(report=report)) == "work-s1"


def test_a_job_is_expected_of_a_session_that_may_have_one() -> None:
    assert expected_job(born()) is None
    assert expected_job(born(), may_have_one=True) == "work-s1"
    assert expected_job(session(state=SessionState.DEAD), may_have_one=True) is None


def test_one_that_is_not_wanted_any_more_never_starts() -> None:
    fence = job("work-s1", labels={labels.JOB: FENCE})
    asked = decide(SessionSnapshot(born(), None, launchable=False), at(0))
    assert asked.actions == (RunFence("work-s1"),)

    status = decide(replace(SessionSnapshot(born(), fence, launchable=False)), at(1)).status

    assert status.state is SessionState.DEAD
    assert status.outcome is not None
    assert not status.outcome.started
