"""What a session left beside its code: what statuses say of it, and how long it is waited for."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import FinalRecord, LeftDocument
from bernstein.api.session import AgentSession, KeptDocument, Stop
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Output
from bernstein.core.documents import MOST_BYTES, OUTPUT
from bernstein.core.sessions.actions import KeepDocuments, ReleasePods
from bernstein.core.sessions.decide import SessionDecision, SessionSnapshot
from bernstein.core.sessions.decide import decide as decide_session
from bernstein.core.sessions.documents import PATIENCE_SECONDS
from tests.unit.core.objects import (
    Object,
    agent_pod,
    at,
    dead,
    ended,
    job,
    pushed,
    recorded,
    session,
    snapshot,
    task,
    with_session,
    work,
)
from tests.unit.core.tasks.decisions import decide

SHA = "a" * 64
LEFT = LeftDocument(OUTPUT.name, 12, SHA)
KEPT = KeptDocument(name=OUTPUT.name, bytes=12, sha256=SHA)
AT_WORK = session(state=SessionState.WORKING, job="work-s1", started_at=at(-30))


def leaves(*documents: LeftDocument, code: int = 0, **says: Any) -> Object:
    said = recorded(documents=documents, **says)
    return agent_pod(code, recorder=ended("recorder", said=said))


def look(found: Object, seconds: float = 0, subject: AgentSession = AT_WORK) -> SessionDecision:
    return decide_session(SessionSnapshot(subject, job("work-s1", found), False), at(seconds))


def kept(decision: SessionDecision) -> list[KeepDocuments]:
    return [each for each in decision.actions if isinstance(each, KeepDocuments)]


def test_they_are_fetched_before_the_end_is_recorded_which_names_them() -> None:
    found = look(pod := leaves(LEFT))

    assert (found.status.state, found.status.documents) == (SessionState.DEAD, (KEPT,))
    assert found.actions == (KeepDocuments(pod, (KEPT,), again=True),)


def test_once_it_is_recorded_nothing_is_fetched_any_more() -> None:
    pod = leaves(LEFT)
    over = AT_WORK.model_copy(update={"status": look(pod).status})

    assert look(pod, subject=over).actions == (ReleasePods(),)


@pytest.mark.parametrize("seconds", [PATIENCE_SECONDS - 1, PATIENCE_SECONDS])
def test_they_are_waited_for_only_so_long_after_the_end_of_the_recorder(seconds: float) -> None:
    (action,) = kept(look(leaves(LEFT), seconds))

    assert action.again is (seconds < PATIENCE_SECONDS)


@pytest.mark.parametrize(
    "found",
    [
        leaves(),
        leaves(LEFT, code=1),
        leaves(LEFT, final=FinalRecord("AgentFailed", "no")),
        leaves(LEFT, final=FinalRecord("DocumentRefused", "no")),
        leaves(LEFT, stopped="Stalled"),
        leaves(LeftDocument("other.json", 12, SHA)),
        leaves(LeftDocument(OUTPUT.name, -1, SHA)),
        leaves(LeftDocument(OUTPUT.name, MOST_BYTES + 1, SHA)),
        leaves(LeftDocument(OUTPUT.name, 12, SHA.upper())),
        agent_pod(recorder=ended("recorder", said="{"), pusher=ended("pusher", said=pushed())),
    ],
)
def test_of_any_other_end_there_is_nothing_to_keep(found: Object) -> None:
    decision = look(found)

    assert decision.status.state is SessionState.DEAD
    assert decision.status.documents is None
    assert kept(decision) == []


def test_who_is_stopped_is_not_waited_for() -> None:
    spec = AT_WORK.spec.model_copy(update={"stop": Stop(reason="Cancelled")})

    assert kept(look(leaves(LEFT), subject=AT_WORK.model_copy(update={"spec": spec}))) == []


def test_who_is_being_deleted_is_not_waited_for() -> None:
    metadata = AT_WORK.metadata.model_copy(update={"deletion_timestamp": at(-1)})

    assert kept(look(leaves(LEFT), subject=AT_WORK.model_copy(update={"metadata": metadata}))) == []


def test_a_name_that_is_told_twice_counts_once() -> None:
    again = LeftDocument(OUTPUT.name, 13, SHA)

    assert look(leaves(LEFT, again)).status.documents == (KEPT.model_copy(update={"bytes": 13}),)


def test_a_refused_one_costs_the_attempt_and_the_next_one_is_told_why() -> None:
    why = f"{OUTPUT.path} is not taken: it is no UTF-8"
    found = look(leaves(final=FinalRecord("DocumentRefused", why))).status
    subject = task(status=with_session(TaskState.IN_PROGRESS))
    ends = dead(found.outcome.reason, message=found.outcome.message) if found.outcome else dead()
    after = decide(snapshot(subject, sessions=(ends,))).status

    assert [(a.reason, a.counted) for a in after.attempts] == [("DocumentRefused", True)]
    assert after.feedback == (
        f"DocumentRefused: the agent left a document that is not taken:\n> {why}"
    )
    assert after.output is None


def after_session(*documents: KeptDocument, before: Output | None = None) -> Output | None:
    ends = dead(work=work())
    status = ends.status.model_copy(update={"documents": documents or None})
    subject = task(status=with_session(TaskState.IN_PROGRESS, output=before))
    found = decide(snapshot(subject, sessions=(ends.model_copy(update={"status": status}),))).status
    assert found.state is TaskState.DONE
    return found.output


def test_its_task_names_the_values_and_who_left_them() -> None:
    assert after_session(KEPT) == Output(session="work-s1", bytes=12, sha256=SHA)


def test_those_of_an_attempt_before_are_not_those_of_one_that_left_none() -> None:
    assert after_session(before=Output(session="work-s0", bytes=1, sha256=SHA)) is None
