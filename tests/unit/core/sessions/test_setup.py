"""A session in whose checkout the Project's setup does not succeed."""

from __future__ import annotations

import pytest

from bernstein.core.sessions import outcome
from tests.unit.core.objects import Object, agent_pod, ended, job, over, session, waiting

REST = (waiting("pusher"), waiting("recorder"), waiting("agent"))
KEY = f"AKIA{'Q' * 4}{'7' * 12}"


def pod(setup: Object, **more: object) -> Object:
    return over(ended("checkout"), setup, *REST, **more)


ENDS = {
    "it fails": (pod(ended("setup", 1, said="no network")), "SetupFailed"),
    "the pod's time is over": (pod(ended("setup", 137), reason="DeadlineExceeded"), "SetupFailed"),
    "its disk is not enough": (pod(ended("setup", 137), reason="Evicted"), "SetupFailed"),
    "its memory is not enough": (pod(ended("setup", 137, reason="OOMKilled")), "SetupFailed"),
    "its node is drained": (pod(ended("setup", 143), disrupted=True), "Disrupted"),
    "somebody deletes the pod": (pod(ended("setup", 143), deleting=True), "PodLost"),
}


@pytest.mark.parametrize(("of", "reason"), ENDS.values(), ids=ENDS)
def test_the_agent_has_not_begun(of: Object, reason: str) -> None:
    found = outcome.classify(session(), job("work-s1", of)).outcome

    assert (found.reason, found.started) == (reason, False)


def test_what_it_printed_is_a_quote_without_secrets_beside_a_remedy() -> None:
    printed = f"npm error code E404\n{KEY}"
    found = outcome.classify(session(), job("work-s1", pod(ended("setup", 1, said=printed))))

    told = found.outcome
    assert told.message is not None
    assert told.message.startswith("the Project's setup ended with exit code 1:\n> npm error code")
    assert KEY not in told.message
    assert told.remedy is not None
    assert "setup in the Project" in told.remedy


def test_one_that_is_stopped_meanwhile_has_been_stopped() -> None:
    of = session(stop="Killed")

    found = outcome.classify(of, job("work-s1", pod(ended("setup", 143), deleting=True))).outcome

    assert found.reason == "Killed"


def test_after_one_that_succeeds_the_agents_end_counts() -> None:
    of = agent_pod()
    of["status"]["containerStatuses"].insert(1, ended("setup"))

    assert outcome.classify(session(), job("work-s1", of)).outcome.reason == "Succeeded"
