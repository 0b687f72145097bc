"""What the column Reason of `kubectl get` shows of real statuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bernstein import crds
from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.delivery import Delivery
from bernstein.api.meta import Model
from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task
from bernstein.core import progress
from bernstein.core.sessions import reading
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.core.waits import waits
from tests.unit.docs.pages import REFERENCE


def shown(obj: Model) -> object:
    """The column Reason of this object, as the API server takes it out of what is stored."""
    (kind,) = (kind for kind in crds.KINDS if isinstance(obj, kind.model))
    (column,) = (column for column in kind.columns if column.name == "Reason")
    found: Any = obj.dump()
    if column.path == ".status.reason":
        return found["status"].get("reason")
    kinds = re.findall(r'@\.type=="([A-Za-z]+)"', column.path)
    in_turn = ",".join(f' ?(@.type=="{kind}")' for kind in kinds)
    assert column.path == f".status.conditions[{in_turn}].reason"
    said = {each["type"]: each["reason"] for each in found["status"].get("conditions", ())}
    return next((said[kind] for kind in kinds if kind in said), None)


def line_of(session: AgentSession) -> dict[str, object]:
    """All columns of a session, wide ones too: each is a path of fields."""
    (kind,) = (kind for kind in crds.KINDS if kind.model is AgentSession)
    return {column.name: _at(session.dump(), column.path) for column in kind.columns}


def _at(obj: Any, path: str) -> object:
    assert re.fullmatch(r"(\.[A-Za-z]+)+", path), path
    for field in path.split(".")[1:]:
        obj = obj.get(field) if obj is not None else None
    return obj


def told_task(state: TaskState, **status: Any) -> Task:
    task = objects.task(status=objects.status(state, **status))
    return task.model_copy(update={"status": progress.of_task(task, task.status, NOW)})


def told_plan(**status: Any) -> Plan:
    plan = objects.plan()
    told = progress.of_plan(plan, plan.status.model_copy(update=status), NOW)
    return plan.model_copy(update={"status": told})


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

    assert shown(told_task(state, waiting=waiting)) == reason
    assert shown(told_plan(waiting=waiting)) == reason


@pytest.mark.parametrize(
    ("decision", "reason"),
    [(None, "Cancelled"), ("Reject", "Rejected"), ("Expired", "ApprovalExpired")],
)
def test_the_reason_of_what_was_cancelled_says_why(decision: str | None, reason: str) -> None:
    asked = {"name": "a", "asks": {"digest": "d"}, "since": NOW, "decision": decision, "by": "ann"}
    approval = AskedApproval.model_validate(asked) if decision else None

    assert shown(told_task(TaskState.CANCELLED, approval=approval)) == reason
    assert shown(told_plan(phase="Cancelled", ended_at=NOW, approval=approval)) == reason


def test_the_reason_of_what_is_at_work_says_what_is_done() -> None:
    assert shown(told_task(TaskState.IN_PROGRESS)) == "InProgress"
    assert shown(told_plan(phase="Running")) == "Running"
    assert shown(told_task(TaskState.CLOSED)) == "Closed"
    assert shown(objects.session(state=SessionState.WORKING)) is None


def test_nothing_is_said_of_what_nobody_has_looked_at() -> None:
    assert shown(objects.task()) is None


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
    told = ended.model_copy(update={"status": status})

    assert status.outcome is not None
    assert status.outcome.reason == outcome
    assert shown(told) == reason
    assert "Succeeded" not in line_of(told).values()


def column_of(obj: Model, name: str) -> Any:
    (kind,) = (kind for kind in crds.KINDS if isinstance(obj, kind.model))
    (column,) = (column for column in kind.columns if column.name == name)
    assert column.wide
    return column.path


def test_a_pull_request_is_shown_with_its_address() -> None:
    pull = {"number": 7, "url": "https://git.example/7", "state": "Open", "sha": "a" * 40}
    delivery = Delivery.model_validate({"state": "PullRequestOpen", "pullRequest": pull})

    for found in (
        told_plan(delivery=delivery),
        told_task(TaskState.DONE, delivery=delivery),
    ):
        assert _at(found.dump(), column_of(found, "URL")) == "https://git.example/7"


def test_every_warning_of_a_project_is_shown_by_its_word() -> None:
    path = column_of(objects.project().whole, "Warning")

    assert path.endswith("].type")
    assert set(re.findall(r'@\.type=="([A-Za-z]+)"', path)) == set(warnings_of_the_page())


def warnings_of_the_page() -> list[str]:
    page = (REFERENCE / "errors.md").read_text("utf-8")
    _, _, rest = page.partition("## Reasons of a Project's warnings")
    return re.findall(r"^\| `([A-Z][A-Za-z]+)` \|", rest, re.MULTILINE)
