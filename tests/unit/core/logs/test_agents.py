"""What an agent logged is kept once it is known how its attempt ended."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import AgentLogs
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core.jobs import JobView
from bernstein.core.sessions.actions import KeepLog
from bernstein.core.sessions.decide import SessionSnapshot, decide
from tests.unit.core.objects import Object, agent_pod, at, job, pod, session

HONEST = agent_pod()
FAILED = agent_pod(1)


def kept(
    subject: AgentSession,
    agents: Object | None,
    *,
    judged: str | None = None,
    which: AgentLogs = "Failed",
) -> bool:
    view: JobView | None = job("work-s1", agents)
    snapshot = SessionSnapshot(subject, view, False, judged=judged, keeps_logs=which)
    actions = [each for each in decide(snapshot, at(0)).actions if isinstance(each, KeepLog)]
    assert actions in ([], [KeepLog(agents or {})])
    return bool(actions)


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


@pytest.mark.parametrize(("which", "is_kept"), [("Never", 0), ("Failed", 0), ("Always", 1)])
def test_that_of_verified_work_is_kept_where_the_project_keeps_all(
    which: AgentLogs, is_kept: bool
) -> None:
    reported = after(at_work(), HONEST)

    assert kept(reported, HONEST, judged="Verified", which=which) == is_kept
    assert kept(at_work(), FAILED, which=which) == (which != "Never")


@pytest.mark.parametrize("gone", [None, agent_pod(1, disrupted=True), pod()])
def test_where_no_node_has_it_nothing_is_asked(gone: Object | None) -> None:
    assert not kept(at_work(), gone)
