"""What the column Reason of `kubectl get` shows of real statuses."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein import crds
from bernstein.api.meta import Model
from bernstein.api.states import SessionState, TaskState
from bernstein.core import progress
from bernstein.core.sessions import reading
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.core.waits import waits


def shown(obj: Model) -> object:
    """The column Reason of this object, as the API server takes it out of what is stored."""
    (kind,) = (kind for kind in crds.KINDS if isinstance(obj, kind.model))
    (column,) = (column for column in kind.columns if column.name == "Reason")
    found: Any = obj.dump()
    for part in column.path.removeprefix(".").split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


@pytest.mark.parametrize(
    ("state", "reason", "needs_person"),
    [
        (TaskState.OPEN, "MaxAgents", False),
        (TaskState.DONE, "GateErrored", True),
        (TaskState.FAILED, "GateFailed", True),
    ],
    ids=["waits", "stalls", "failed"],
)
def test_the_reason_of_a_task_and_a_plan_says_why_it_waits_stalls_or_failed(
    state: TaskState, reason: str, needs_person: bool
) -> None:
    waiting = waits(reason, "as it is", needs_person=needs_person)
    task = objects.task(status=objects.status(state, waiting=waiting))
    plan = objects.plan()
    status = plan.status.model_copy(update={"waiting": waiting})

    assert shown(task) == reason
    told = progress.of_plan(plan, status, NOW)
    assert shown(plan.model_copy(update={"status": told})) == reason


def test_the_reason_of_what_is_at_work_is_empty() -> None:
    assert shown(objects.task(status=objects.with_session(TaskState.IN_PROGRESS))) is None
    assert shown(objects.plan()) is None
    assert shown(objects.session(state=SessionState.WORKING)) is None


@pytest.mark.parametrize(
    ("outcome", "judged", "reason"),
    [
        ("AgentFailed", None, "AgentFailed"),
        ("Succeeded", None, "Unverified"),
        ("Succeeded", "SignalFailed", "SignalFailed"),
        ("Succeeded", "EmptyDiff", "EmptyDiff"),
        ("Succeeded", "Verified", "Verified"),
    ],
)
def test_the_session_of_a_liar_does_not_read_succeeded(
    outcome: str, judged: str | None, reason: str
) -> None:
    ended = objects.dead(outcome)
    status = reading.told(ended, ended.status, judged, NOW)

    assert shown(ended.model_copy(update={"status": status})) == reason
