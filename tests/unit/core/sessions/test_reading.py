"""What a session says in one word: its own end, and how its Task has judged what it left."""

from __future__ import annotations

import pytest

from bernstein.api.meta import ConditionType
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt, Task
from bernstein.core.conditions import find
from bernstein.core.sessions import decide as sessions
from bernstein.core.sessions.decide import SessionSnapshot
from bernstein.core.sessions.reading import judgement
from tests.unit.core.objects import (
    at,
    dead,
    job,
    pod,
    running,
    session,
    task,
    verification,
    with_session,
)


def shown(subject: AgentSession, judged: str | None = None) -> tuple[str | None, str | None]:
    """Its reason, and whether it has succeeded."""
    status = sessions.decide(
        SessionSnapshot(subject, None, launchable=False, judged=judged), at(0)
    ).status
    condition = find(status.conditions, ConditionType.SUCCEEDED)
    return status.reason, condition.status if condition else None


def judged_by(
    reason: str, state: TaskState = TaskState.DONE, *, passed: bool | None = None, number: int = 1
) -> Task:
    """A Task whose first session ended so, in its own words; its present one is `number`."""
    attempt = Attempt(session="work-s1", attempt=1, counted=True, reason=reason)
    judged = verification(passed=passed)
    return task(status=with_session(state, number, attempts=(attempt,), verification=judged))


def judged(word: str) -> AgentSession:
    """One that reported success, and was judged."""
    subject = dead()
    status = subject.status.model_copy(update={"judgement": word})
    return subject.model_copy(update={"status": status})


def test_a_run_that_failed_says_why_whatever_its_task_says() -> None:
    assert shown(dead("AgentFailed")) == ("AgentFailed", "False")
    assert shown(dead("AgentFailed"), "AgentFailed") == ("AgentFailed", "False")


def test_a_run_that_reports_success_is_unverified_until_its_work_is_judged() -> None:
    assert shown(dead("Succeeded")) == ("Unverified", "Unknown")
    assert shown(dead("Succeeded"), "Verified") == ("Verified", "True")


@pytest.mark.parametrize("reason", ["EmptyDiff", "SignalFailed", "GateFailed"])
def test_a_liars_session_says_what_rejected_its_work_and_its_own_end_stays(reason: str) -> None:
    liar = dead("Succeeded")
    status = sessions.decide(
        SessionSnapshot(liar, None, launchable=False, judged=reason), at(0)
    ).status

    assert shown(liar, reason) == (reason, "False")
    assert status.outcome is not None
    assert (status.outcome.reason, status.judgement) == ("Succeeded", reason)


def test_what_was_judged_stays_when_its_task_is_gone_or_has_gone_on() -> None:
    assert shown(judged("Verified")) == ("Verified", "True")
    assert shown(judged("Verified"), "GateFailed") == ("GateFailed", "False")


def test_one_that_is_stopped_says_why_while_it_ends() -> None:
    stopped = session(
        state=SessionState.WORKING, job="work-s1", started_at=at(-30), stop="Cancelled"
    )
    found = sessions.decide(
        SessionSnapshot(stopped, job("work-s1", pod(running("agent"))), launchable=False), at(0)
    )
    assert found.status.reason == "Cancelled"


def test_one_at_work_has_nothing_to_explain() -> None:
    subject = session(state=SessionState.WORKING, job="work-s1", started_at=at(-30))
    busy = job("work-s1", pod(running("agent")))
    assert (
        sessions.decide(SessionSnapshot(subject, busy, launchable=False), at(0)).status.reason
        is None
    )


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (judged_by("Succeeded"), None),
        (judged_by("Succeeded", passed=True), "Verified"),
        (judged_by("EmptyDiff", TaskState.OPEN), "EmptyDiff"),
        (judged_by("SignalFailed", passed=True, number=2), "SignalFailed"),
        (judged_by("Succeeded", passed=True, number=2), None),
        (task(status=with_session(TaskState.CLAIMED)), None),
        (None, None),
    ],
)
def test_its_task_says_how_it_was_judged(subject: Task | None, expected: str | None) -> None:
    assert judgement(session(), subject) == expected


def test_another_task_of_the_name_says_nothing_of_it() -> None:
    other = judged_by("Succeeded", passed=True)
    meta = other.metadata.model_copy(update={"uid": "another"})
    assert judgement(session(), other.model_copy(update={"metadata": meta})) is None
