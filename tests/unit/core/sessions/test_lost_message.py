"""How a session ended whose recorder's message is lost or cut: what else tells of it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.policy import ApprovalPolicy
from bernstein.api.meta import UsageCounts
from bernstein.api.pod import FinalRecord
from bernstein.api.session import Report
from bernstein.api.states import SessionState, TaskState
from bernstein.checks.changes import digest_of
from bernstein.core.approvals import policy
from bernstein.core.sessions import outcome
from tests.unit.core.objects import (
    BASE,
    HEAD,
    Object,
    agent_pod,
    dead,
    ended,
    job,
    pushed,
    recorded,
    session,
    snapshot,
    task,
    with_session,
)
from tests.unit.core.tasks.decisions import decide


def with_commit(code: int = 0, exit_code: int = 0, **says: Any) -> Object:
    """A pod whose recorder's message is cut, and whose pusher repeats what its commit says."""
    left = pushed(**({"outcome": "Succeeded"} | says))
    cut = ended("recorder", code, said="{")
    return agent_pod(exit_code, recorder=cut, pusher=ended("pusher", said=left))


def test_work_whose_message_is_cut_counts_by_its_commit_where_no_server_heard_it() -> None:
    found = outcome.classify(session(state=SessionState.WORKING), job("work-s1", with_commit()))

    assert found.outcome.reason == "Succeeded"
    assert found.work is not None
    assert (found.work.sha, found.work.final) == (HEAD, True)
    assert found.work.python_changed
    assert found.work.tests_changed
    assert found.work.deps_changed
    assert found.usage is None, "nobody has told its tokens: none are made up"


def test_a_person_is_asked_about_such_work_where_risks_are_even_if_no_path_is_protected() -> None:
    left = outcome.classify(session(state=SessionState.WORKING), job("work-s1", with_commit())).work
    subject = task(status=with_session(TaskState.IN_PROGRESS))
    found = decide(snapshot(subject, sessions=(dead(work=left),))).status

    assert found.verification is not None
    rules = ApprovalPolicy(result="HighRisk")
    assert policy.why_result(rules, subject, found.verification, digest_of(())) != ()


def test_the_tokens_of_work_that_counts_by_its_commit_are_those_of_the_last_heartbeat() -> None:
    heartbeat = Report(usage=UsageCounts(output=7)).model_dump()
    working = session(state=SessionState.WORKING, report=heartbeat)

    found = outcome.classify(working, job("work-s1", with_commit()))

    assert (found.outcome.reason, found.usage) == ("Succeeded", UsageCounts(output=7))


@pytest.mark.parametrize("word", ["AgentFailed", "RateLimited", "Blocked", "Stalled"])
def test_a_commit_that_tells_of_a_failure_makes_none_free(word: str) -> None:
    found = outcome.classify(session(), job("work-s1", with_commit(outcome=word)))

    assert found.outcome.reason == word


def test_a_commit_tells_that_the_agent_was_not_sure() -> None:
    found = outcome.classify(session(), job("work-s1", with_commit(unsure="placeholder")))

    assert (found.outcome.reason, found.outcome.low_confidence) == ("Succeeded", "placeholder")


def test_a_commit_says_no_more_than_the_agents_exit_code_allows() -> None:
    found = outcome.classify(session(), job("work-s1", with_commit(exit_code=3)))

    assert found.outcome.reason == "AgentFailed"


@pytest.mark.parametrize(
    "pod",
    [
        with_commit(outcome=""),
        with_commit(outcome="Splendid"),
        with_commit(outcome="Closed"),
        with_commit(final=False),
        with_commit(sha=BASE),
        with_commit(137),
    ],
    ids=["says nothing", "no word of ours", "no end", "no last one", "is the base", "killed"],
)
def test_no_other_commit_tells_how_a_session_ended(pod: Object) -> None:
    found = outcome.classify(session(), job("work-s1", pod))

    assert found.outcome.reason == "InfrastructureError"


def test_what_the_recorder_says_counts_before_its_commit() -> None:
    says = ended("recorder", said=recorded(final=FinalRecord("AgentFailed")))
    pod = agent_pod(recorder=says, pusher=ended("pusher", said=pushed(outcome="Succeeded")))

    assert outcome.classify(session(), job("work-s1", pod)).outcome.reason == "AgentFailed"
