"""A command that is not there costs no attempt; one that only ends like it does."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import FinalRecord, Usage
from bernstein.core.sessions import outcome
from tests.unit.core.objects import (
    BASE,
    HEAD,
    Object,
    agent_pod,
    at,
    ended,
    job,
    pushed,
    recorded,
    session,
)


def silent(let_go: float, **more: Any) -> Object:
    """A recorder of an agent that left nothing; it let it go so many seconds after NOW."""
    told = {"sha": BASE, "usage": Usage(), "let_go": at(let_go).timestamp()} | more
    return ended("recorder", said=recorded(final=FinalRecord("NoFinalRecord"), **told))


NOTHING = ended("pusher", said=pushed(sha=BASE))

FACTS: dict[str, tuple[Object, str, bool]] = {
    "a program that is not there does nothing at once": (
        agent_pod(agent=ended("agent", 127, after=5), recorder=silent(let_go=0)),
        "AgentNotStarted",
        False,
    ),
    "a command ends like one that was not found 6 s after it was let go": (
        agent_pod(agent=ended("agent", 127, after=6), recorder=silent(let_go=0), pusher=NOTHING),
        "NoFinalRecord",
        True,
    ),
    "one that has waited for the recorder 15 s is not found at once": (
        agent_pod(agent=ended("agent", 127, after=15), recorder=silent(let_go=14)),
        "AgentNotStarted",
        False,
    ),
    "a command has used tokens within its first seconds": (
        agent_pod(agent=ended("agent", 127), recorder=silent(0, usage=Usage(9)), pusher=NOTHING),
        "NoFinalRecord",
        True,
    ),
    "a command has changed something within its first seconds": (
        agent_pod(agent=ended("agent", 127), recorder=silent(let_go=0, sha=HEAD)),
        "NoFinalRecord",
        True,
    ),
    "a command has kept the recorder from telling": (
        agent_pod(agent=ended("agent", 127), recorder=ended("recorder", 137)),
        "InfrastructureError",
        True,
    ),
}


@pytest.mark.parametrize(("pod", "reason", "started"), FACTS.values(), ids=FACTS)
def test_only_what_did_nothing_at_once_counts_as_not_found(
    pod: Object, reason: str, started: bool
) -> None:
    found = outcome.classify(session(), job("work-s1", pod)).outcome

    assert (found.reason, found.started) == (reason, started)
