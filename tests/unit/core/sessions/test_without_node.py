"""A session whose pod no node has room for."""

from __future__ import annotations

from bernstein.api.meta import ConditionType
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState
from bernstein.core.conditions import find
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.decide import SessionDecision, SessionSnapshot
from tests.unit.core.objects import at, job, pod, session, waiting

LAUNCHED = session(state=SessionState.STARTING, job="work-s1", started_at=at(-30))


def look(subject: AgentSession, job_: JobView) -> SessionDecision:
    return sessions.decide(SessionSnapshot(subject, job_, launchable=True), at(0))


def without_node(
    age: float, words: str = "0/3 nodes are available: 3 Insufficient cpu."
) -> JobView:
    return job("work-s1", pod(phase="Pending", age=age, unschedulable=words, node=None))


def doing(decision: SessionDecision) -> tuple[str, str]:
    found = find(decision.status.conditions, ConditionType.RECONCILING)
    assert found is not None
    return found.reason, found.message


def test_unschedulable_is_told_within_30_s() -> None:
    young = look(LAUNCHED, without_node(9))
    found = look(LAUNCHED, without_node(10))

    assert young.status.reason is None
    assert young.requeue_after == LOOK_AGAIN_SECONDS
    assert found.status.reason == "Unschedulable"
    words = "no node has room for its pod: 0/3 nodes are available: 3 Insufficient cpu."
    assert doing(found) == ("Unschedulable", words)


def test_of_a_large_cluster_the_scheduler_says_no_more_than_fits() -> None:
    found = look(LAUNCHED, without_node(10, "3 Insufficient cpu\x1b[2J, " * 1000))

    _, message = doing(found)
    assert 400 < len(message) < 600
    assert "\x1b" not in message


def test_once_it_has_a_node_nothing_is_told_of_it_any_more() -> None:
    before = look(LAUNCHED, without_node(10)).status
    subject = LAUNCHED.model_copy(update={"status": before})
    placed = look(subject, job("work-s1", pod(waiting("agent"), phase="Pending", age=20)))

    assert placed.status.reason is None
    assert doing(placed)[0] == "Starting"
