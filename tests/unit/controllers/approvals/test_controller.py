"""What is told of a question to people: its status, an Event of each move, and what is counted."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.controllers.approvals.controller import ApprovalController
from bernstein.controllers.approvals.telling import count
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.resource import EVENTS
from bernstein.observe.metrics import Metrics
from bernstein.resources import APPROVALS, TASKS
from tests.background import Background, eventually
from tests.unit.controllers.rig import Rig
from tests.unit.core import objects
from tests.unit.core.approvals.asked import ANN, DIGEST
from tests.unit.core.objects import NAMESPACE, NOW, at
from tests.unit.kube.apiserver import ApiServer

NAME = "work-approval-1"
ASKS = {"attempt": 1, "digest": DIGEST}


def asking(**decided: Any) -> Task:
    told = {"name": NAME, "asks": ASKS, "since": NOW, **decided}
    asked = AskedApproval.model_validate(told)
    status = objects.status(TaskState.PENDING_APPROVAL, attempt=1, approval=asked)
    task: Task = objects.task(plan=None, stage=None, status=status)
    return task


def put(api: ApiServer, task: Task) -> None:
    dumped = task.dump()
    meta = {"uid": task.metadata.uid, "creationTimestamp": at(-60).isoformat(), "generation": 1}
    api.put(TASKS, "work", NAMESPACE, metadata=meta, spec=dumped["spec"], status=dumped["status"])


@pytest.mark.parametrize(
    ("decision", "state_", "words"),
    [
        ("Approve", "Approved", "it was approved"),
        ("Reject", "Rejected", "it was rejected"),
        ("Retry", "Rejected", "it was sent back"),
    ],
)
async def test_each_move_is_told_once(
    api: ApiServer,
    client: Client,
    background: Background,
    decision: str,
    state_: str,
    words: str,
) -> None:
    rig = Rig(api, client, background)
    rig.controller = ApprovalController(rig.context)
    background.start(rig.events.run())
    put(api, asking())
    subject = {"kind": "Task", "name": "work", "uid": "uid-work"}
    owned = {"ownerReferences": [owner_reference("Task", "work", "uid-work")]}
    spec = {"subject": subject, "asks": ASKS}
    api.put(APPROVALS, NAME, NAMESPACE, metadata=owned, spec=spec)
    await rig.start()
    rig.run()
    await eventually(lambda: state(api) == "Pending")

    put(api, asking(decision=decision, by=ANN, time=at(60)))
    await eventually(lambda: state(api) == state_)

    await eventually(lambda: len(told(api)) == 2)
    assert [reason for reason, _ in told(api)] == ["Pending", state_]
    assert told(api)[-1][1] == words


def state(api: ApiServer) -> str | None:
    found: str | None = api.get(APPROVALS, NAME, NAMESPACE).get("status", {}).get("state")
    return found


def told(api: ApiServer) -> list[tuple[str, str]]:
    """(reason, message) of each Event, the oldest first."""
    events = (api.get(EVENTS, name, NAMESPACE) for name in api.names(EVENTS))
    return [
        (e["reason"], e["message"])
        for e in sorted(events, key=lambda e: int(e["metadata"]["resourceVersion"]))
    ]


def test_a_decision_is_counted_with_the_time_that_it_took_when_it_is_acted_upon() -> None:
    metrics = Metrics(process=False)
    asks, decided = asking().status, asking(decision="Reject", by=ANN, time=at(90)).status

    count(metrics, NAMESPACE, "Task", asks, asks)
    count(metrics, NAMESPACE, "Task", asks, decided)
    count(metrics, NAMESPACE, "Task", decided, decided)

    found = {
        sample.name: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name.startswith("bernstein_approval_decision_seconds_")
        and sample.name.endswith(("_count", "_sum"))
    }
    assert found == {
        "bernstein_approval_decision_seconds_count": 1.0,
        "bernstein_approval_decision_seconds_sum": 90.0,
    }
