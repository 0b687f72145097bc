"""From what a pod says to why its session ended, and what follows for the Task."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.meta import UsageCounts
from bernstein.api.pod import FinalRecord, Usage
from bernstein.api.session import AgentSession, PodRef, Report
from bernstein.api.states import SessionState
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.sessions import outcome
from tests.unit.core.objects import (
    BASE,
    HEAD,
    TREE,
    Object,
    agent_pod,
    at,
    ended,
    failed,
    job,
    over,
    pushed,
    recorded,
    session,
    waiting,
)

MIB = "the container used more than its limit of 1Gi"


def final(reason: str, **more: Any) -> Object:
    """A recorder that read this from the agent's own last words."""
    return ended("recorder", said=recorded(final=FinalRecord(reason, "in its words", **more)))


def killed(reason: str) -> Object:
    return ended("agent", 137, reason=reason)


FACTS: dict[str, tuple[Object, str, bool]] = {
    "the agent reports success and its work is out": (agent_pod(), "Succeeded", True),
    "the agent ends with an error": (agent_pod(3), "AgentFailed", True),
    "the agent says that it failed": (
        agent_pod(recorder=final("AgentFailed")),
        "AgentFailed",
        True,
    ),
    "exit code 0 without a final record": (
        agent_pod(recorder=final("NoFinalRecord")),
        "NoFinalRecord",
        True,
    ),
    "too many turns": (agent_pod(recorder=final("MaxTurns")), "MaxTurns", True),
    "the model refuses": (agent_pod(recorder=final("Refused")), "Refused", True),
    "rate limit": (agent_pod(1, recorder=final("RateLimited")), "RateLimited", True),
    "usage limit": (agent_pod(1, recorder=final("UsageLimited")), "UsageLimited", True),
    "model key refused": (agent_pod(1, recorder=final("ModelAuthFailed")), "ModelAuthFailed", True),
    "provider down": (
        agent_pod(1, recorder=final("ProviderUnavailable")),
        "ProviderUnavailable",
        True,
    ),
    "own memory limit": (agent_pod(agent=killed("OOMKilled")), "AgentOutOfMemory", True),
    "own disk limit": (agent_pod(137, reason="Evicted", message=MIB), "AgentDiskFull", True),
    "eviction by pressure on the node": (
        agent_pod(137, reason="Evicted", disrupted=True),
        "Disrupted",
        True,
    ),
    "preempted": (agent_pod(143, disrupted=True), "Disrupted", True),
    "preempted before the agent began": (
        over(ended("checkout", 0), waiting("agent"), disrupted=True),
        "Disrupted",
        False,
    ),
    "deleted behind our back": (agent_pod(143, deleting=True), "PodLost", True),
    "deadline of the pod": (agent_pod(143, reason="DeadlineExceeded"), "Timeout", True),
    "no activity": (
        agent_pod(143, recorder=ended("recorder", said=recorded(stopped="Stalled"))),
        "Stalled",
        True,
    ),
    "repository unreachable": (
        over(failed("checkout", "RepositoryUnreachable"), waiting("agent")),
        "RepositoryUnreachable",
        False,
    ),
    "repository refuses": (
        over(failed("checkout", "RepositoryAuthFailed"), waiting("agent")),
        "RepositoryAuthFailed",
        False,
    ),
    "repository is broken": (
        over(failed("checkout", "RepositoryInvalid"), waiting("agent")),
        "RepositoryInvalid",
        False,
    ),
    "no such branch": (
        over(failed("checkout", "RefNotFound"), waiting("agent")),
        "RefNotFound",
        False,
    ),
    "checkout was stopped by the deadline": (
        over(failed("checkout", "Terminated"), waiting("agent"), reason="DeadlineExceeded"),
        "Terminated",
        False,
    ),
    "the deadline came before the agent began": (
        over(ended("checkout", 137), waiting("agent"), reason="DeadlineExceeded"),
        "InfrastructureError",
        False,
    ),
    "checkout was disrupted": (
        over(ended("checkout", 137), waiting("agent"), disrupted=True),
        "Disrupted",
        False,
    ),
    "checkout died without a word": (
        over(ended("checkout", 137), waiting("agent")),
        "InfrastructureError",
        False,
    ),
    "a bug of ours": (
        over(failed("checkout", "InternalError"), waiting("agent")),
        "InfrastructureError",
        False,
    ),
    "the agent's program is not in its image": (
        agent_pod(127, agent=ended("agent", 127, said="launcher: demo-agent: not found")),
        "AgentNotStarted",
        False,
    ),
    "a command that has worked ends like one that was not found": (
        agent_pod(agent=ended("agent", 127, after=60)),
        "AgentFailed",
        True,
    ),
    "the launcher cannot be run": (
        agent_pod(agent=ended("agent", 128, reason="StartError", said="exec format error")),
        "AgentNotStarted",
        False,
    ),
    "the agent's container never ran": (
        over(ended("checkout"), waiting("agent"), phase="Failed"),
        "InfrastructureError",
        False,
    ),
    "the tree is too large": (
        agent_pod(recorder=failed("recorder", "SnapshotTooLarge")),
        "SnapshotTooLarge",
        True,
    ),
    "the work holds a secret": (
        agent_pod(pusher=failed("pusher", "SecretFound")),
        "SecretFound",
        True,
    ),
    "the work cannot be pushed": (
        agent_pod(pusher=failed("pusher", "CredentialRefused")),
        "CredentialRefused",
        True,
    ),
    "somebody else pushed to the session's ref": (
        agent_pod(pusher=failed("pusher", "RefMoved")),
        "RefMoved",
        True,
    ),
    "the recorder left nothing": (
        agent_pod(recorder=ended("recorder", said="")),
        "InfrastructureError",
        True,
    ),
    "only a checkpoint got out": (
        agent_pod(pusher=ended("pusher", said=pushed(final=False))),
        "InfrastructureError",
        True,
    ),
    "the pusher pushed something else than was recorded": (
        agent_pod(pusher=ended("pusher", said=pushed(sha=TREE))),
        "InfrastructureError",
        True,
    ),
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_pods_facts_name_the_reason(fact: str) -> None:
    pod, reason, started = FACTS[fact]

    found = outcome.classify(session(), job("work-s1", pod)).outcome

    assert (found.reason, found.started) == (reason, started)
    assert found.remedy == ("" if reason == "Succeeded" else policy(reason).remedy)


@pytest.mark.parametrize(
    "fact",
    [
        "own memory limit",
        "own disk limit",
        "deadline of the pod",
        "no activity",
        "the agent ends with an error",
        "exit code 0 without a final record",
        "the tree is too large",
    ],
)
def test_what_the_agent_did_itself_costs_an_attempt(fact: str) -> None:
    row = policy(FACTS[fact][1])

    assert row.counts
    assert row.retry is Retry.AT_ONCE


@pytest.mark.parametrize("fact", [f for f, (_, _, started) in FACTS.items() if not started])
def test_what_failed_before_the_agent_started_costs_no_attempt(fact: str) -> None:
    assert not policy(FACTS[fact][1]).counts


def test_success_carries_the_commit_and_the_tokens() -> None:
    found = outcome.classify(session(), job("work-s1", agent_pod()))

    assert found.work is not None
    assert (found.work.base, found.work.sha, found.work.tree) == (BASE, HEAD, TREE)
    assert found.work.ref == session().spec.work_ref
    assert (found.work.files_changed, found.work.python_changed) == (1, True)
    assert found.usage == UsageCounts(input=1000, output=200)


def test_a_success_tells_in_one_bounded_line_what_was_ignored() -> None:
    kept = ended("recorder", said=recorded(ignored="1 new path is ignored:\n\u202ea (x:1)" * 99))

    found = outcome.classify(session(), job("work-s1", agent_pod(recorder=kept))).outcome

    assert found.reason == "Succeeded"
    assert found.message.startswith("1 new path is ignored: a (x:1)")
    assert "\n" not in found.message
    assert len(found.message) <= 500


def test_a_success_that_ends_with_an_error_code_is_none() -> None:
    pod = agent_pod(agent=ended("agent", 9))

    found = outcome.classify(session(), job("work-s1", pod)).outcome

    assert (found.reason, found.exit_code) == ("AgentFailed", 9)


def test_conditions_of_gates_are_taken_for_met_when_nobody_says_what_changed() -> None:
    pod = agent_pod(recorder=ended("recorder", said=""))

    work = outcome.classify(session(), job("work-s1", pod)).work

    assert work is not None
    assert not work.final
    assert (work.python_changed, work.tests_changed, work.deps_changed) == (True, True, True)


def test_a_stop_that_was_asked_for_is_the_reason() -> None:
    asked = session(stop="Cancelled")

    found = outcome.classify(asked, job("work-s1", agent_pod(143))).outcome

    assert (found.reason, found.started) == ("Cancelled", True)


def test_when_the_provider_takes_requests_again_is_kept() -> None:
    pod = agent_pod(1, recorder=final("UsageLimited", retry_after=7200))

    assert outcome.classify(session(), job("work-s1", pod)).outcome.retry_after_seconds == 7200


@pytest.mark.parametrize(("said", "kept"), [("not sure", "not sure"), ("", None)])
def test_that_an_agent_was_not_confident_is_kept(said: str, kept: str | None) -> None:
    unsure = agent_pod(recorder=final("Succeeded", low_confidence=said))
    told = heard(low_confidence=said)

    assert outcome.classify(session(), job("work-s1", unsure)).outcome.low_confidence == kept
    assert outcome.classify(told, job("work-s1", CUT)).outcome.low_confidence == kept


def test_a_session_whose_pod_is_gone_keeps_the_tokens_that_were_reported() -> None:
    report = Report(usage=UsageCounts(input=7)).model_dump()
    pod = PodRef(name="p", uid="u").model_dump()
    lost = session(state=SessionState.WORKING, report=report, pod=pod)

    found = outcome.without_pod(lost)

    assert (found.outcome.reason, found.outcome.started) == ("PodLost", True)
    assert found.usage == UsageCounts(input=7)


def test_hostile_last_words_are_shown_harmless() -> None:
    text = "\x1b[31m@everyone\u202e"
    pod = agent_pod(
        recorder=ended("recorder", said=recorded(final=FinalRecord("AgentFailed", text)))
    )

    found = outcome.classify(session(), job("work-s1", pod)).outcome

    assert found.message == "the agent reports a failure:\n> \uff20everyone"


states_: st.SearchStrategy[Object] = st.one_of(
    st.just({}),
    st.just({"running": {}}),
    st.fixed_dictionaries({"waiting": st.fixed_dictionaries({"reason": st.text(max_size=20)})}),
    st.fixed_dictionaries(
        {
            "terminated": st.fixed_dictionaries(
                {},
                optional={
                    "exitCode": st.integers(0, 255),
                    "reason": st.sampled_from(["OOMKilled", "Error", "StartError", "Completed"]),
                    "message": st.one_of(
                        st.text(max_size=30), st.just('{"sha":1}'), st.just("[]"), st.just("null")
                    ),
                    "startedAt": st.just("2030-01-01T12:00:00Z"),
                },
            )
        }
    ),
)


def told_to_end(pod_: Object, how: str, after: float) -> Object:
    """The pod, asked to end so many seconds after its agent had."""
    if how == "deleted":
        meta = {"deletionTimestamp": at(after + 30).isoformat(), "deletionGracePeriodSeconds": 30}
        return pod_ | {"metadata": pod_["metadata"] | meta}
    status = {"reason": "DeadlineExceeded", "startTime": at(after - 60).isoformat()}
    return pod_ | {
        "spec": pod_["spec"] | {"activeDeadlineSeconds": 60},
        "status": pod_["status"] | status,
    }


@pytest.mark.parametrize(("how", "reason"), [("deleted", "PodLost"), ("deadline", "Timeout")])
def test_an_agent_that_had_finished_before_its_pod_was_told_to_end_has_succeeded(
    how: str, reason: str
) -> None:
    def said(after: float, pusher: Object | None = None) -> str:
        told = told_to_end(agent_pod(pusher=pusher), how, after)
        return outcome.classify(session(), job("work-s1", told)).outcome.reason

    assert said(5) == "Succeeded"
    assert said(0) == reason
    assert said(-5) == reason
    assert said(5, pusher=ended("pusher", said=pushed(final=False))) == reason


@pytest.mark.parametrize("when", ["state", "lastState"])
def test_a_tree_that_takes_all_the_recorders_memory_is_too_large(when: str) -> None:
    killed_ = ended("recorder", 137, reason="OOMKilled")
    if when == "lastState":
        killed_ |= {"lastState": killed_["state"], "state": ended("recorder", 143)["state"]}

    found = outcome.classify(session(), job("work-s1", agent_pod(recorder=killed_)))

    assert found.outcome.reason == "SnapshotTooLarge"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["checkout", "recorder", "pusher", "agent"]),
            states_,
        ),
        max_size=5,
    ),
    st.sampled_from(["", "Evicted", "DeadlineExceeded", "NodeLost"]),
    st.booleans(),
)
def test_whatever_a_pod_says_there_is_a_reason_and_success_needs_all_of_it(
    containers: list[tuple[str, Object]], reason: str, disrupted: bool
) -> None:
    made = [{"name": name, "state": state} for name, state in containers]
    pod = over(reason=reason, disrupted=disrupted, phase="Failed")
    pod["status"]["initContainerStatuses"] = made
    pod["status"]["containerStatuses"] = []

    found = outcome.classify(session(), job("work-s1", pod))

    assert found.outcome.reason
    assert found.outcome.reason != "Succeeded"


def test_tokens_of_the_stream_become_counts() -> None:
    assert outcome.counts(Usage(1, 2, 3, 4)) == UsageCounts(
        input=1, output=2, cache_read=3, cache_write=4
    )


# --- without the recorder's message -----------------------------------------------------------

CUT = agent_pod(recorder=ended("recorder", said="{"))


def heard(**more: Any) -> AgentSession:
    fields: Object = {"finished": True, "outcome": "Succeeded", "checkpoint": HEAD}
    return session(state=SessionState.WORKING, report=Report(**(fields | more)).model_dump())


def test_work_whose_message_is_cut_counts_by_what_the_server_heard() -> None:
    found = outcome.classify(heard(usage=UsageCounts(output=7)), job("work-s1", CUT))

    assert found.outcome.reason == "Succeeded"
    assert found.usage == UsageCounts(output=7)
    assert found.work is not None
    assert (found.work.sha, found.work.final) == (HEAD, True)
    assert found.work.python_changed
    assert found.work.tests_changed
    assert found.work.deps_changed


@pytest.mark.parametrize(
    ("report", "pod"),
    [
        ({"checkpoint": TREE}, CUT),
        ({"finished": False}, CUT),
        ({"outcome": None}, CUT),
        ({}, agent_pod(recorder=ended("recorder", 137, said="{"))),
        ({}, agent_pod(recorder=ended("recorder", said="{"), pusher=ended("pusher", said="{"))),
    ],
)
def test_what_the_server_heard_is_no_work_that_the_pod_denies(report: Object, pod: Object) -> None:
    found = outcome.classify(heard(**report), job("work-s1", pod))

    assert found.outcome.reason == "InfrastructureError"
