"""Questions about the Task `work`, as the API server serves them, and what came of them."""

from __future__ import annotations

from typing import Any

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.states import TaskState
from bernstein.resources import APPROVALS, TASKS
from tests.unit.core import objects
from tests.unit.core.approvals.asked import ANN, DIGEST
from tests.unit.core.objects import NOW, at
from tests.unit.kube.apiserver import ApiServer


def question(
    api: ApiServer, name: str, *, attempt: int = 1, sha: str = "a" * 40, **end: Any
) -> AskedApproval:
    """An Approval about the Task `work`, with what came of it; as the Task asks it."""
    asks = {"digest": DIGEST, "attempt": attempt, "sha": sha}
    decided = {key: end.pop(key) for key in ("decision", "decidedBy") if key in end}
    spec = {"subject": {"kind": "Task", "name": "work", "uid": "uid-work"}, "asks": asks}
    made = {"creationTimestamp": at(-60).isoformat()}
    status = {"state": "Pending"} | end
    api.put(APPROVALS, name, "team", metadata=made, spec=spec | decided, status=status)
    told = {"name": name, "asks": asks, "since": NOW}
    if "decision" in decided:
        told |= {"decision": decided["decision"], "by": decided["decidedBy"]}
    return AskedApproval.model_validate(told)


def sent_back(api: ApiServer, **more: Any) -> AskedApproval:
    end: dict[str, Any] = {"state": "Rejected", "endedAt": at(-30)}
    end |= {"decision": "Retry", "decidedBy": ANN}
    return question(api, "first", **end | more)


def asks_next(api: ApiServer, sha: str = "b" * 40) -> AskedApproval:
    """The next attempt is asked about."""
    asked = question(api, "second", attempt=2, sha=sha)
    status = objects.status(TaskState.PENDING_APPROVAL, attempt=2, approval=asked)
    api.put(TASKS, "work", "team", **objects.task(status=status).dump())
    return asked


def undecided(api: ApiServer, name: str) -> bool:
    return "decision" not in api.get(APPROVALS, name, "team")["spec"]
