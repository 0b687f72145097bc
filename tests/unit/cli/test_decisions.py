"""What a person's decision comes to before it is written."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.decisions import decide
from bernstein.cli.errors import CliError
from bernstein.kube.client import Client
from bernstein.resources import APPROVALS, PLANS, TASKS
from tests.unit.core import objects
from tests.unit.core.approvals.asked import DIGEST
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
