"""What is counted when a Task's status was written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.controllers.tasks import telling
from bernstein.core.fsm import move
from bernstein.core.scheduling import opening
from bernstein.core.waiting import waits
from bernstein.kube.resource import Key
from bernstein.observe.metrics import Metrics
from tests.unit.core import objects
from tests.unit.core.approvals import bypasses
from tests.unit.core.approvals.asked import ANN
from tests.unit.core.objects import NAMESPACE, at

SIGNALS = [{"type": "path_exists", "path": path} for path in ("a", "b")]
WHO = {"namespace": NAMESPACE}


def told(session: AgentSession | None, seconds: float) -> Metrics:
    """The metrics once it is told, so many seconds later, that the Task `work` is Closed."""
    sessions = {Key(NAMESPACE, "work-s1"): session} if session is not None else {}
    events = SimpleNamespace(record=lambda *_, **__: None)
    metrics = Metrics(process=False)
    context: Any = SimpleNamespace(
        metrics=metrics,
        caches=SimpleNamespace(sessions=sessions),
        writer=SimpleNamespace(events=events),
    )
    task = objects.task(status=objects.done())
    new = objects.with_session(TaskState.CLOSED, attempt=1)
    telling.tell(context, {"metadata": {"name": "work"}}, task, new, at(seconds))
    return metrics


def events_of(old: TaskStatus, new: TaskStatus) -> list[dict[str, Any]]:
    """What is told of this write in Events."""
    return told_to(Metrics(process=False), old, new)


def told_to(metrics: Metrics, old: TaskStatus, new: TaskStatus) -> list[dict[str, Any]]:
    """The same, where this counts."""
    told: list[dict[str, Any]] = []
    events = SimpleNamespace(record=lambda _, **said: told.append(said))
    context: Any = SimpleNamespace(
        metrics=metrics,
        caches=SimpleNamespace(sessions={}),
        writer=SimpleNamespace(events=events),
    )
    telling.tell(
        context,
        {"metadata": {"name": "work"}},
        objects.task(status=old, completionSignals=SIGNALS),
        new,
        at(0),
    )
    return told


def rejected(**more: Any) -> Verification:
    lint = objects.gate("lint", "Failed") | {"reason": "ExitCode", "excerpt": "key=hunter2"}
    signal = {"name": "signal-1", "kind": "signal", "verdict": "TimedOut"}
    return objects.verification(checks=[lint, signal, objects.gate("lint")], passed=False, **more)


def test_the_event_of_a_rejected_attempt_names_the_checks_and_quotes_none() -> None:
    old = objects.done()
    new = objects.with_session(TaskState.FAILED, attempt=1, verification=rejected())

    (event,) = events_of(old, new)

    assert event["message"].endswith(": lint Failed (ExitCode), signal-1 TimedOut")
    assert "hunter2" not in event["message"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (None, objects.status(), "it is in line to start"),
        (
            objects.status(TaskState.FAILED, attempt=1),
            objects.status(attempt=1),
            "it is tried again, after 1 attempt",
        ),
        (
            objects.with_session(TaskState.CLAIMED),
            objects.status(),
            "its session came to nothing, which costs no attempt: Open",
        ),
        (
            objects.with_session(TaskState.CLAIMED),
            objects.with_session(TaskState.IN_PROGRESS),
            "the agent is at work",
        ),
        (
            objects.done(),
            objects.with_session(TaskState.CLOSED, attempt=1),
            "it is verified and merged",
        ),
        (
            objects.done(),
            objects.with_session(TaskState.CLOSED, attempt=1, produced={"plan": "limits"}),
            "Plan 'limits' is made of its plan file; a person must approve that",
        ),
    ],
)
def test_an_event_tells_a_move_in_words_of_everyday(
    old: TaskStatus | None, new: TaskStatus, said: str
) -> None:
    before = old if old is not None else objects.status(None)

    (event,) = events_of(before, new)

    assert event["message"] == said


NEW = objects.status(observed_generation=-1)
"""As the API server serves a Task that nobody has looked at."""


def test_a_new_task_that_waits_is_told_of_and_one_that_starts_at_once_when_its_agent_works() -> (
    None
):
    opened = opening.opened(objects.task(status=NEW), NEW, at(0))

    (event,) = events_of(NEW, opened)

    assert event["message"] == "it is in line to start"
    assert events_of(NEW, move(opened, TaskState.CLAIMED, "Scheduled", at(0))) == []


def test_both_moves_of_one_write_are_counted() -> None:
    opened = opening.opened(objects.task(status=NEW), NEW, at(0))
    metrics = Metrics(process=False)

    told_to(metrics, NEW, move(opened, TaskState.CLAIMED, "Scheduled", at(0)))

    value = metrics.registry.get_sample_value
    for state in ("Open", "Claimed"):
        assert value("bernstein_task_moves_total", WHO | {"state": state}) == 1


def test_the_event_of_a_stall_names_the_checks_that_could_not_run() -> None:
    tool = objects.gate("lint", "Errored") | {"reason": "ToolMissing", "excerpt": "hunter2"}
    old = objects.done(verification=objects.verification(checks=[tool]))
    new = waits(old, "GateErrored", "hunter2", at(0), needs_person=True)

    (event,) = events_of(old, new)

    assert event["reason"] == "GateErrored"
    assert "lint Errored (ToolMissing)" in event["message"]
    assert "hunter2" not in event["message"]


def test_the_event_of_a_later_stall_names_no_checks_of_an_earlier_attempt() -> None:
    old = objects.status(verification=rejected())
    new = waits(old, "SecretNotFound", "no such Secret", at(0), needs_person=True)

    (event,) = events_of(old, new)

    assert "lint" not in event["message"]


def test_the_time_from_the_end_of_the_agent_until_its_work_is_closed_is_counted() -> None:
    ended = objects.session(state=SessionState.DEAD, ended_at=at(0))

    value = told(ended, 42).registry.get_sample_value

    assert value("bernstein_agent_end_to_closed_seconds_sum", WHO) == 42
    assert value("bernstein_task_closed_seconds_sum", WHO) == 60 + 42


def test_a_closed_task_is_counted_by_its_role_and_the_attempts_that_it_took() -> None:
    value = told(None, 42).registry.get_sample_value

    labels = {**WHO, "project": "default", "role": objects.task().spec.role, "attempts": "1"}
    assert value("bernstein_tasks_closed_total", labels) == 1


def test_without_its_session_nobody_knows_when_the_agent_ended() -> None:
    value = told(None, 42).registry.get_sample_value

    assert value("bernstein_agent_end_to_closed_seconds_count", WHO) is None
    assert value("bernstein_task_closed_seconds_count", WHO) == 1


def moved(before: TaskState, to: TaskState, reason: str) -> str:
    old = objects.status(before)
    new = move(old, to, reason, at(0))
    (event,) = events_of(old, new)
    return str(event["message"])


def test_what_people_and_agents_ask_for_is_told_in_words() -> None:
    waits = moved(TaskState.IN_PROGRESS, TaskState.BLOCKED, "Blocked")
    assert waits == "its agent waits for something: its status.blocked says what"
    assert "is there, or a person says so" in moved(TaskState.BLOCKED, TaskState.OPEN, "Unblocked")
    assert "asked for its claim back" in moved(TaskState.CLAIMED, TaskState.OPEN, "Unclaimed")
    assert "had its session ended" in moved(TaskState.ORPHANED, TaskState.OPEN, "Killed")


def test_a_question_about_a_gate_names_it_and_an_answer_who_has_given_it_and_why() -> None:
    asks, goes_on = bypasses.asks(), bypasses.bypassed()

    (asked,) = events_of(bypasses.begun(), asks)
    (answered,) = events_of(asks, goes_on)

    assert asked["message"] == (
        "a gate has said no, and a person may let it go on without that: gate_a Failed (ExitCode)"
    )
    assert answered["message"] == (
        f"it is judged on without a gate: 'gate_a', by {ANN}: {bypasses.BECAUSE}"
    )


def test_who_has_approved_work_is_told() -> None:
    old = objects.status(TaskState.PENDING_APPROVAL)
    (event,) = events_of(old, move(old, TaskState.DONE, "Approved", at(0), actor=ANN))

    assert event["message"] == f"it goes on to land, approved by {ANN}"


def test_a_bypass_is_counted_once_and_so_is_what_comes_of_it() -> None:
    metrics = Metrics(process=False)
    asks, goes_on = bypasses.asks(), bypasses.bypassed()
    lands = bypasses.look(goes_on).status

    for old, new in ((bypasses.begun(), asks), (asks, goes_on), (goes_on, lands), (lands, lands)):
        told_to(metrics, old, new)

    def gates(verdict: str) -> float | None:
        which = WHO | {"gate": "gate_a", "verdict": verdict}
        return metrics.registry.get_sample_value("bernstein_gate_verdicts_total", which)

    def verified(result: str) -> float | None:
        which = WHO | {"attempt": "first", "result": result}
        return metrics.registry.get_sample_value("bernstein_verifications_total", which)

    assert (gates("Failed"), gates("Bypassed")) == (1, 1)
    assert (verified("rejected"), verified("passed")) == (1, 1)


def test_where_nobody_says_anything_of_a_gate_it_is_told_so() -> None:
    limited = bypasses.allowing(expiresAfterSeconds=60)
    asks = bypasses.asks(of=limited)
    rejected = bypasses.look(asks, of=limited, now=60).status

    found = events_of(asks, rejected)[0]

    assert found["message"].startswith("nobody has let it go on without a gate: it is rejected")
