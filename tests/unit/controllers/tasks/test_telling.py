"""What is counted when a Task's status was written."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.controllers.tasks import telling
from bernstein.kube.resource import Key
from bernstein.observe.metrics import Metrics
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at

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


def test_the_time_from_the_end_of_the_agent_until_its_work_is_closed_is_counted() -> None:
    ended = objects.session(state=SessionState.DEAD, ended_at=at(0))

    value = told(ended, 42).registry.get_sample_value

    assert value("bernstein_agent_end_to_closed_seconds_sum", WHO) == 42
    assert value("bernstein_task_closed_seconds_sum", WHO) == 60 + 42


def test_without_its_session_nobody_knows_when_the_agent_ended() -> None:
    value = told(None, 42).registry.get_sample_value

    assert value("bernstein_agent_end_to_closed_seconds_count", WHO) is None
    assert value("bernstein_task_closed_seconds_count", WHO) == 1
