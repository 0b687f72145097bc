"""What a person's decision comes to before it is written."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import decisions
from bernstein.cli.cluster import Cluster
from bernstein.cli.decisions import Decision, decide
from bernstein.cli.errors import CliError
from bernstein.kube.client import Client
from bernstein.resources import APPROVALS, PLANS, TASKS
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.core.approvals import bypasses
from tests.unit.core.approvals.asked import ANN, DIGEST
from tests.unit.core.objects import NOW
from tests.unit.kube.apiserver import ApiServer

CANCEL = {"reason": "not needed"}
ASKED = AskedApproval.model_validate(
    {"name": "work-approval-1", "asks": {"digest": DIGEST, "attempt": 0}, "since": NOW}
)


def task(state: TaskState = TaskState.PENDING_APPROVAL, **spec: Any) -> Task:
    return objects.task(status=objects.status(state, approval=ASKED), **spec)


def plan(ended: bool = False, **spec: Any) -> Plan:
    found = objects.plan(begun=False, **spec)
    update = {"approval": ASKED, "ended_at": NOW if ended else None}
    return found.model_copy(update={"status": found.status.model_copy(update=update)})


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(task(cancel=CANCEL), id="a Task that is being cancelled"),
        pytest.param(task(TaskState.CANCELLED), id="a Task that was"),
        pytest.param(task(TaskState.CLOSED), id="a Closed Task"),
        pytest.param(plan(cancel=CANCEL), id="a Plan that is being cancelled"),
        pytest.param(plan(ended=True), id="a Plan that has ended"),
    ],
)
async def test_nobody_decides_about_what_is_over(
    api: ApiServer, client: Client, subject: Plan | Task
) -> None:
    kind = PLANS if isinstance(subject, Plan) else TASKS
    name = subject.metadata.name
    api.put(kind, name, "team", **subject.dump())
    made: dict[str, Any] = {"subject": {"kind": kind.kind, "name": name, "uid": "uid"}}
    made |= {"asks": ASKED.asks.dump()}
    api.put(APPROVALS, ASKED.name, "team", spec=made)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), name, "Approve", "")

    assert refusal.value.reason == "NothingToDecide"
    assert "waits for nobody's decision" in refusal.value.message


async def test_who_lets_work_go_on_without_a_gate_says_why_and_is_told_what_it_says(
    api: ApiServer, client: Client
) -> None:
    status = bypasses.asks()
    api.put(TASKS, "work", "team", **objects.task(status=status).dump())
    assert status.approval is not None
    api.put(APPROVALS, status.approval.name, "team", spec=_asked_of(status.approval))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "")

    assert refusal.value.reason == "ReasonMissing"
    assert "without gate 'gate_a'" in refusal.value.message
    assert "F401 in web.py" in refusal.value.message
    spec = api.get(APPROVALS, status.approval.name, "team")["spec"]
    assert "decision" not in spec


def _asked_of(asked: AskedApproval) -> dict[str, Any]:
    return {"subject": {"kind": "Task", "name": "work", "uid": "uid"}, "asks": asked.asks.dump()}


async def test_a_bypass_is_told_although_something_else_is_asked_by_then(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = bypasses.allowing(result="Always")
    before = bypasses.asks(of=strict)
    after = bypasses.look(bypasses.bypassed(of=strict), of=strict).status
    assert before.approval is not None
    assert after.approval is not None
    assert after.approval.name != before.approval.name
    seen = [objects.task(status=status) for status in (before, after)]

    async def found(*_: object) -> Task:
        return seen.pop(0)

    async def written(*_: object) -> None:
        return None

    monkeypatch.setattr(decisions, "find", found)
    monkeypatch.setattr(decisions, "again", found)
    monkeypatch.setattr(decisions, "_write", written)

    outcome = await decide(Cluster(client, "team"), "work", "Approve", "wrong here")

    told = decisions.told(outcome)
    assert told.startswith(f"Task 'work': gate 'gate_a' is bypassed by {ANN}")


@pytest.mark.parametrize(
    ("decision", "state", "told"),
    [
        ("Approve", TaskState.DONE, f"was approved by {ANN} already: nothing changed (done)"),
        ("Approve", TaskState.CLOSED, f"was approved by {ANN} already: nothing changed (closed)"),
        ("Reject", TaskState.CANCELLED, f"was rejected by {ANN} already: nothing changed"),
        ("Retry", TaskState.FAILED, f"was sent back by {ANN} already: nothing changed"),
    ],
)
async def test_the_same_decision_again_says_so_and_writes_nothing(
    api: ApiServer, client: Client, decision: Decision, state: TaskState, told: str
) -> None:
    decided = ASKED.model_copy(update={"decision": decision, "by": ANN})
    again = objects.task(status=objects.status(state, approval=decided))
    api.put(TASKS, "work", "team", **again.dump())

    outcome = await decide(Cluster(client, "team"), "work", decision, "another reason")

    assert told in decisions.told(outcome)
    assert {call.verb for call in api.calls} == {"GET"}


async def test_whoever_repeats_it_before_the_operator_has_acted_writes_no_second_decision(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_SECONDS", 0.0)
    known_as(api, ANN)
    api.put(TASKS, "work", "team", **task().dump())
    made = {"subject": {"kind": "Task", "name": "work", "uid": "uid"}, "asks": ASKED.asks.dump()}
    api.put(APPROVALS, ASKED.name, "team", spec=made)

    for _ in range(2):
        outcome = await decide(Cluster(client, "team"), "work", "Approve", "")

        assert "it is decided; the operator has not acted on it yet" in decisions.told(outcome)
    assert api.names(APPROVALS) == [ASKED.name]
    spec = api.get(APPROVALS, ASKED.name, "team")["spec"]
    assert (spec["decision"], spec["decidedBy"]) == ("Approve", ANN)
