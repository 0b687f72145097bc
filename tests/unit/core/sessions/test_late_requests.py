"""An agent's Job is deleted while a request for it that had no answer may still be applied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bernstein.api.pod import FENCE
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core import labels
from bernstein.core.actions import RunFence
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.sessions.decide import LATEST_SECONDS, SessionDecision, SessionSnapshot, decide
from tests.unit.core.objects import at, ended, job, pod, running, session

WORKING = SessionState.WORKING
BUSY = pod(ended("checkout"), running("pusher"), running("recorder"), running("agent"))
ALIVE = job("work-s1", BUSY)
ORPHAN = replace(ALIVE, deleting=True, orphan=True)
TAKEN = job("work-s1", labels={labels.JOB: FENCE})


def in_state(state: SessionState, **status: Any) -> AgentSession:
    return session(state=state, job="work-s1", started_at=at(-30), **status)


def look(
    state: SessionState, left: JobView | None, *, unfenceable: bool = False
) -> SessionDecision:
    snapshot = SessionSnapshot(
        in_state(state), left, launchable=True, late=True, unfenceable=unfenceable
    )
    return decide(snapshot, at(0))


@pytest.mark.parametrize("left", [None, ORPHAN])
def test_a_late_request_does_not_make_a_job_again_that_somebody_deleted(
    left: JobView | None,
) -> None:
    fenced = look(WORKING, left)

    assert (fenced.status.state, fenced.actions) == (WORKING, (RunFence("work-s1"),))
    assert fenced.requeue_after == LOOK_AGAIN_SECONDS


def test_a_session_ends_once_the_name_of_its_deleted_job_is_taken() -> None:
    at_work = look(WORKING, replace(ORPHAN, fenced=True))
    assert (at_work.status.state, at_work.actions) == (WORKING, ())

    assert look(WORKING, TAKEN).status.state is SessionState.DEAD


def test_a_session_ends_where_no_fence_may_be_made() -> None:
    found = look(WORKING, None, unfenceable=True)

    assert (found.status.state, found.actions) == (SessionState.DEAD, ())


@pytest.mark.parametrize(("left", "fences"), [(None, 1), (TAKEN, 0), (ALIVE, 0)])
def test_the_name_of_a_dead_sessions_job_stays_taken_while_it_may_be_asked_for(
    left: JobView | None, fences: int
) -> None:
    actions = look(SessionState.DEAD, left).actions

    assert [type(action) for action in actions].count(RunFence) == fences


@pytest.mark.parametrize(("ago", "fences"), [(0, 1), (LATEST_SECONDS - 1, 1), (LATEST_SECONDS, 0)])
def test_no_request_is_so_late_that_it_makes_the_job_of_a_session_that_ended_long_ago(
    ago: int, fences: int
) -> None:
    """As all are after a restart, their Jobs gone: each would get a Job that nobody needs."""
    ended_then = session(
        state=SessionState.DEAD, job="work-s1", started_at=at(-ago - 30), ended_at=at(-ago)
    )

    actions = decide(SessionSnapshot(ended_then, None, launchable=True, late=True), at(0)).actions

    assert [type(action) for action in actions].count(RunFence) == fences
