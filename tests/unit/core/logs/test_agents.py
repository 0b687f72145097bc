"""What an agent logged is kept once it is known how its attempt ended."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.projects.retention import AgentLogs, Retention
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core.jobs import JobView
from bernstein.core.logs.agents import MARGIN_SECONDS
from bernstein.core.sessions.actions import KeepLog, ReleasePods
from bernstein.core.sessions.decide import SessionDecision, SessionSnapshot, decide
from tests.unit.core.objects import Object, agent_pod, at, job, pod, session

HONEST = agent_pod()
FAILED = agent_pod(1)


def kept(
    subject: AgentSession,
    agents: Object | None,
    **how: Any,
) -> bool:
    """`how`: as `look` has it."""
    found = look(subject, agents, **how).actions
    actions = [each for each in found if isinstance(each, KeepLog)]
    assert actions in ([], [KeepLog(agents or {})])
    return bool(actions)


def look(
    subject: AgentSession,
    agents: Object | None,
    judged: str | None = None,
    which: AgentLogs = "Failed",
    seconds: float = 0,
) -> SessionDecision:
    retention = Retention(agent_logs=which)
    view: JobView | None = job("work-s1", agents)
    snapshot = SessionSnapshot(subject, view, False, judged=judged, kept=retention)
    return decide(snapshot, at(seconds))


def at_work(**more: Any) -> AgentSession:
    return session(state=SessionState.WORKING, job="work-s1", started_at=at(-30), **more)


def after(subject: AgentSession, agents: Object, *, judged: str | None = None) -> AgentSession:
    snapshot = SessionSnapshot(subject, job("work-s1", agents), False, judged=judged)
    return subject.model_copy(update={"status": decide(snapshot, at(0)).status})


def test_that_of_a_run_that_failed_is_kept_with_its_end_and_once() -> None:
    assert kept(at_work(), FAILED)
    assert not kept(after(at_work(), FAILED), FAILED)


def test_that_of_rejected_work_is_kept_when_its_task_says_so_and_once() -> None:
    reported = after(at_work(), HONEST)
    assert reported.status.reason == "Unverified"
    assert not kept(at_work(), HONEST)
    assert not kept(reported, HONEST)

    assert kept(reported, HONEST, judged="GateFailed")
    assert not kept(after(reported, HONEST, judged="GateFailed"), HONEST, judged="GateFailed")


def test_that_of_work_which_is_not_judged_yet_is_kept_before_its_pod_goes() -> None:
    reported = after(at_work(), HONEST)
    last = Retention().pods_seconds - MARGIN_SECONDS

    waits = look(reported, HONEST, seconds=last - 7)
    assert (waits.actions, waits.requeue_after) == ((ReleasePods(),), 7)
    assert kept(reported, HONEST, seconds=last)
    assert not kept(reported, HONEST, seconds=last, which="Never")
    verified = after(reported, HONEST, judged="Verified")
    assert not kept(verified, HONEST, judged="Verified", seconds=last)


def test_that_of_every_attempt_is_kept_at_its_end_where_the_project_keeps_all() -> None:
    assert kept(at_work(), HONEST, which="Always")
    assert kept(at_work(), FAILED, which="Always")
    reported = after(at_work(), HONEST)
    for judged in (None, "Verified", "GateFailed"):
        assert not kept(reported, HONEST, judged=judged, which="Always")


def test_where_the_project_keeps_none_none_is_kept() -> None:
    assert not kept(at_work(), FAILED, which="Never")
    assert not kept(after(at_work(), HONEST), HONEST, judged="GateFailed", which="Never")


@pytest.mark.parametrize("gone", [None, agent_pod(1, disrupted=True), pod()])
def test_where_no_node_has_it_nothing_is_asked(gone: Object | None) -> None:
    assert not kept(at_work(), gone)
